(** Past the paper: several counts at once, with independent noises; and keys that only depend on the set of records. *)

From Coq Require Import Reals ZArith List Lra Lia Bool.
From TableBuilder Require Import Sums Privacy Mechanism Noise Proposition2.
Import ListNotations.
Local Open Scope R_scope.

(** All lists with one element of each of some lists. *)
Fixpoint tuples (choices : list (list Z)) : list (list Z) :=
  match choices with
  | [] => [[]]
  | l :: rest => flat_map (fun y => map (cons y) (tuples rest)) l
  end.

(** The product of p(y − n) over all counts n and their answers y. *)
Fixpoint product (P : Z -> R) (ns ys : list Z) : R :=
  match ns, ys with
  | [], [] => 1
  | n :: ns, y :: ys => P (y - n)%Z * product P ns ys
  | _, _ => 0
  end.

(** δ_k(ε): the hockey-stick sum of k independent noises, all of whose counts rise by one. *)
Definition delta_k (P : pmf Z) (k : nat) (eps : R) : R :=
  total (tuples (repeat (support P) k))
    (fun z => positive (product P (repeat 0%Z k) z - exp eps * product P (repeat 1%Z k) z)).

Lemma total_tuples l rest f :
  total (tuples (l :: rest)) f = total l (fun y => total (tuples rest) (fun ys => f (y :: ys))).
Proof. simpl. rewrite total_flat_map. apply total_ext. intros y _. apply total_map. Qed.

Lemma NoDup_tuples choices : Forall (@NoDup Z) choices -> NoDup (tuples choices).
Proof.
  induction 1 as [|l rest N _ IH]; simpl; [repeat constructor; simpl; tauto|].
  induction N as [|y l I N IH']; simpl; [constructor|].
  assert (A : forall (a b : list (list Z)), NoDup a -> NoDup b -> (forall x, In x a -> ~ In x b) -> NoDup (a ++ b)).
  { induction a as [|x a IHa]; simpl; intros b Na Nb H; [assumption|]. inversion Na; subst. constructor.
    - intros J. apply in_app_or in J. destruct J; [tauto|]. apply (H x); auto.
    - apply IHa; auto. }
  apply A; [apply FinFun.Injective_map_NoDup; [intros a b E; congruence|assumption]|assumption|].
  intros x J K. apply in_map_iff in J. destruct J as (t & <- & _).
  apply in_flat_map in K. destruct K as (y' & I' & K). apply in_map_iff in K. destruct K as (t' & E & _).
  congruence.
Qed.

(** The values that each of the counts ns can be published as. *)
Definition around (P : pmf Z) (ns : list Z) : list (list Z) :=
  map (fun n => map (fun z => (z + n)%Z) (support P)) ns.

Lemma product_nonneg (P : pmf Z) ns ys : 0 <= product P ns ys.
Proof.
  revert ys. induction ns as [|n ns IH]; intros [|y ys]; simpl; try lra.
  apply Rmult_le_pos; [apply nonnegative|apply IH].
Qed.

(** The answers to all counts of a table, each with a noise of its own: independent, so that probabilities multiply. *)
Program Definition answers (P : pmf Z) (ns : list Z) : pmf (list Z) := {|
  mass := product P ns;
  support := tuples (around P ns)
|}.
Next Obligation.
  apply NoDup_tuples, Forall_map, Forall_forall. intros n _.
  apply FinFun.Injective_map_NoDup; [intros a b E; lia|apply distinct].
Qed.
Next Obligation.
  revert y H. induction ns as [|n ns IH]; intros [|y ys] H; simpl in *; try (left; reflexivity); try (exfalso; apply H; reflexivity).
  apply in_flat_map. exists y. split.
  - apply in_map_iff. exists (y - n)%Z. split; [lia|]. apply supported. intros E. apply H. rewrite E. ring.
  - apply in_map, IH. intros E. apply H. rewrite E. ring.
Qed.
Next Obligation. apply product_nonneg. Qed.
Next Obligation.
  induction ns as [|n ns IH]; [simpl; ring|]. simpl around. rewrite total_tuples.
  rewrite (total_ext _ _ (fun y => P (y - n)%Z)).
  - rewrite total_map, <- (normalised _ P). apply total_ext. intros z _. f_equal. lia.
  - intros y _. simpl. rewrite total_scal. fold (around P ns). rewrite IH. ring.
Qed.

(** ** The hockey-stick sum with weights a and b *)

Definition weighted (P : pmf Z) (ns ms : list Z) (a b : R) : R :=
  total (tuples (around P ns)) (fun ys => positive (a * product P ns ys - b * product P ms ys)).

Definition rising (P : pmf Z) (k : nat) (a b : R) : R :=
  total (tuples (repeat (support P) k))
    (fun z => positive (a * product P (repeat 0%Z k) z - b * product P (repeat 1%Z k) z)).

Lemma weighted_step P n m ns ms a b :
  weighted P (n :: ns) (m :: ms) a b
  = total (support P) (fun z => weighted P ns ms (a * P z) (b * P (z + n - m)%Z)).
Proof.
  unfold weighted. simpl around. rewrite total_tuples, total_map. apply total_ext. intros z _.
  apply total_ext. intros ys _. simpl. replace (z + n - n)%Z with z by lia. f_equal. ring.
Qed.

Lemma rising_step P k a b :
  rising P (Datatypes.S k) a b = total (support P) (fun z => rising P k (a * P z) (b * P (z - 1)%Z)).
Proof.
  unfold rising. simpl repeat. rewrite total_tuples. apply total_ext. intros z _.
  apply total_ext. intros ys _. simpl. replace (z - 0)%Z with z by lia. f_equal. ring.
Qed.

Lemma rising_scal P k c a b : 0 <= c -> rising P k (c * a) (c * b) = c * rising P k a b.
Proof.
  intros H. unfold rising. rewrite <- total_scal. apply total_ext. intros z _.
  rewrite <- positive_scal by assumption. f_equal. ring.
Qed.

Lemma rising_nonneg P k a b : 0 <= rising P k a b.
Proof. apply total_nonneg. intros; apply positive_nonneg. Qed.

(** How many counts differ. *)
Fixpoint changed (ns ms : list Z) : nat :=
  match ns, ms with
  | n :: ns, m :: ms => if Z.eq_dec n m then changed ns ms else Datatypes.S (changed ns ms)
  | _, _ => O
  end.

(** Two lists of counts, each of which is equal, one higher or one lower. *)
Definition one_apart : list Z -> list Z -> Prop := Forall2 (fun n m => (Z.abs (n - m) <= 1)%Z).

Lemma weighted_is_rising P D :
  support P = range (- D) D -> (forall z, P (- z)%Z = P z) ->
  forall ns ms, one_apart ns ms -> forall a b, weighted P ns ms a b = rising P (changed ns ms) a b.
Proof.
  intros Su E ns ms H. induction H as [|n m ns ms N _ IH]; intros a b.
  - reflexivity.
  - rewrite weighted_step.
    rewrite (total_ext _ _ (fun z => rising P (changed ns ms) (a * P z) (b * P (z + n - m)%Z)))
      by (intros; apply IH).
    simpl. destruct (Z.eq_dec n m) as [<-|Ne].
    + rewrite (total_ext _ _ (fun z => rising P (changed ns ms) a b * P z)).
      * rewrite total_scal, normalised. ring.
      * intros z _. replace (z + n - n)%Z with z by lia. rewrite (Rmult_comm a), (Rmult_comm b).
        rewrite rising_scal by apply nonnegative. ring.
    + rewrite rising_step. destruct (Z.eq_dec m (n + 1)) as [->|Ne'].
      * apply total_ext. intros z _. do 3 f_equal. lia.
      * replace n with (m + 1)%Z by lia. rewrite Su.
        change (sum (- D) D (fun z => rising P (changed ns ms) (a * P z) (b * P (z + (m + 1) - m)%Z))
          = sum (- D) D (fun z => rising P (changed ns ms) (a * P z) (b * P (z - 1)%Z))).
        rewrite sum_reflect. replace (- - D)%Z with D by lia. apply sum_ext. intros z _.
        replace (- z + (m + 1) - m)%Z with (- (z - 1))%Z by lia. rewrite !E. reflexivity.
Qed.

(** Whatever is published of independent cells, of which k counts change by one, up or down: the
    least δ is δ_k(ε), for any symmetric noise. *)
Theorem promise (P : pmf Z) D ns ms eps delta' :
  support P = range (- D) D -> (forall z, P (- z)%Z = P z) -> one_apart ns ms ->
  (forall E, Pr (answers P ns) E <= exp eps * Pr (answers P ms) E + delta')
  <-> delta_k P (changed ns ms) eps <= delta'.
Proof.
  intros Su Ev O. rewrite all_events_are_the_hockey_stick_sum by (apply Rlt_le, exp_pos).
  assert (W := weighted_is_rising P D Su Ev ns ms O 1 (exp eps)).
  replace (hockey (exp eps) (answers P ns) (answers P ms)) with (weighted P ns ms 1 (exp eps)).
  - rewrite W. unfold rising, delta_k. rewrite (total_ext _ _ (fun z => positive
      (product P (repeat 0%Z (changed ns ms)) z - exp eps * product P (repeat 1%Z (changed ns ms)) z))).
    + reflexivity.
    + intros z _. f_equal. ring.
  - unfold weighted, hockey. apply total_ext. intros ys _. simpl. f_equal. ring.
Qed.

Lemma delta_k_rising P k eps : delta_k P k eps = rising P k 1 (exp eps).
Proof. apply total_ext. intros z _. f_equal. ring. Qed.

Lemma rising_grows (P : pmf Z) k a b :
  0 <= b -> rising P k a b <= rising P (Datatypes.S k) a b.
Proof.
  revert a b. induction k as [|k IH]; intros a b B.
  - rewrite rising_step. unfold rising. simpl.
    assert (Q : total (support P) (fun z => P (z - 1)%Z) <= 1).
    { assert (H := part_of_event P (shifted 1 P) (fun _ => true)). simpl in H.
      apply Rle_trans with (1 := H). unfold Pr. rewrite <- (normalised _ (shifted 1 P)).
      apply total_le. intros; simpl; lra. }
    apply Rle_trans with (positive (total (support P) (fun z => a * P z - b * P (z - 1)%Z)) + 0).
    + rewrite total_minus, !total_scal, normalised. rewrite !Rplus_0_r. rewrite !Rmult_1_r.
      apply Rmax_lub; [apply positive_nonneg|].
      apply Rle_trans with (2 := positive_ge _). nra.
    + rewrite Rplus_0_r. apply Rmax_lub.
      * apply total_nonneg. intros z _. rewrite Rplus_0_r. apply positive_nonneg.
      * apply total_le. intros z _. rewrite Rplus_0_r, !Rmult_1_r. apply positive_ge.
  - rewrite (rising_step P k), (rising_step P (Datatypes.S k)). apply total_le. intros z _. apply IH.
    apply Rmult_le_pos; [assumption|apply nonnegative].
Qed.

(** δ_k never falls as k grows. *)
Theorem delta_k_grows P j k eps : (j <= k)%nat -> delta_k P j eps <= delta_k P k eps.
Proof.
  intros H. rewrite !delta_k_rising. induction H as [|k _ IH]; [lra|].
  apply Rle_trans with (1 := IH). apply rising_grows, Rlt_le, exp_pos.
Qed.

(** A table: the counts of several properties. *)
Definition counts {A} (cells : list (A -> bool)) (x : list A) : list Z := map (fun q => count q x) cells.

(** Data sets of which one has a record more. *)
Definition one_record {A} (x x' : list A) : Prop :=
  exists before after r,
    (x = before ++ after /\ x' = before ++ r :: after) \/ (x = before ++ r :: after /\ x' = before ++ after).

Lemma counts_changed {A} (cells : list (A -> bool)) x x' k :
  (forall r, (length (filter (fun q => q r) cells) <= k)%nat) -> one_record x x' ->
  one_apart (counts cells x) (counts cells x') /\ (changed (counts cells x) (counts cells x') <= k)%nat.
Proof.
  intros K (before & after & r & H). specialize (K r).
  assert (G : forall q, (count q (before ++ r :: after) = count q (before ++ after) + if q r then 1 else 0)%Z).
  { intros q. rewrite !count_app, count_cons. lia. }
  cut (one_apart (counts cells x) (counts cells x')
    /\ changed (counts cells x) (counts cells x') = length (filter (fun q => q r) cells)).
  { intros [O C]. split; [exact O|]. rewrite C. exact K. }
  clear K. induction cells as [|q cells IH]; [split; [constructor|reflexivity]|].
  destruct IH as [O C]. split.
  - constructor; [|exact O]. destruct H as [[-> ->]|[-> ->]]; rewrite G; destruct (q r); lia.
  - simpl. fold (counts cells x) (counts cells x'). rewrite C.
    destruct (Z.eq_dec (count q x) (count q x')) as [E|E];
      destruct H as [[-> ->]|[-> ->]]; rewrite G in E; destruct (q r); simpl; lia.
Qed.

(** A table in which a record is counted in at most k cells, each with a noise of its own, is
    (ε, δ_k(ε))-differentially private for one record more or less. *)
Theorem table_is_private {A} (P : pmf Z) D (cells : list (A -> bool)) k eps :
  support P = range (- D) D -> (forall z, P (- z)%Z = P z) ->
  (forall r, (length (filter (fun q => q r) cells) <= k)%nat) ->
  private one_record (fun x => answers P (counts cells x)) eps (delta_k P k eps).
Proof.
  intros Su Ev K x x' N. destruct (counts_changed cells x x' k K N) as [O C].
  apply (promise P D); auto. apply delta_k_grows, C.
Qed.

(** ** What equal answers for equal sets cost *)

(** Two cells are the same set of n records but for one person, who is in the second only. Without the
    person the answers are equal; with the person they have the laws of n + Z and n + 1 + Z, however
    they depend on each other. Then δ is at least p(0), at every ε. *)
Theorem consistent_keys (P : pmf Z) n eps delta' (without with_person : pmf (Z * Z)) :
  (forall y y', y <> y' -> without (y, y') = 0) ->
  (forall B, Pr with_person (fun y => B (fst y)) = Pr (shifted n P) B) ->
  (forall B, Pr with_person (fun y => B (snd y)) = Pr (shifted (n + 1) P) B) ->
  (forall E, Pr with_person E <= exp eps * Pr without E + delta') ->
  P 0%Z <= delta'.
Proof.
  intros Eq M1 M2 Pv.
  set (differ := fun y : Z * Z => negb (fst y =? snd y)%Z). specialize (Pv differ).
  assert (Z0 : Pr without differ = 0).
  { apply total_zero. intros [y y'] _. unfold differ. simpl. destruct (Z.eqb_spec y y') as [->|N]; simpl; [reflexivity|].
    apply Eq, N. }
  rewrite Z0 in Pv. set (B := fun y => (y <=? n)%Z). specialize (M1 B). specialize (M2 B).
  assert (L : Pr (shifted n P) B - Pr (shifted (n + 1) P) B <= Pr with_person differ).
  { rewrite <- M1, <- M2. unfold Pr. rewrite <- total_minus. apply total_le. intros [y y'] _.
    assert (Q := nonnegative _ with_person (y, y')). unfold differ, B. simpl.
    destruct (Z.eqb_spec y y') as [->|N]; simpl; [lra|].
    destruct (y <=? n)%Z, (y' <=? n)%Z; lra. }
  assert (G : Pr (shifted n P) B - Pr (shifted (n + 1) P) B = P 0%Z).
  { unfold Pr. simpl. rewrite !total_map. rewrite <- total_minus.
    rewrite (total_ext _ _ (fun z => if Z.eqb z 0 then P 0%Z else 0)).
    - destruct (Req_EM_T (P 0%Z) 0) as [E|E].
      + rewrite E. apply total_zero. intros z _. destruct (z =? 0)%Z; reflexivity.
      + rewrite (total_support (support P) [0%Z]).
        * simpl. ring.
        * apply distinct.
        * repeat constructor. simpl. tauto.
        * intros z H. destruct (Z.eqb_spec z 0) as [Q|Q]; [|congruence]. rewrite Q.
          split; intros _; [left; reflexivity|apply supported, E].
    - intros z _. unfold B. replace (z + n - n)%Z with z by lia. replace (z + (n + 1) - (n + 1))%Z with z by lia.
      destruct (Z.leb_spec (z + n) n), (Z.leb_spec (z + (n + 1)) n), (Z.eqb_spec z 0); subst; try lia; lra. }
  lra.
Qed.

(** The table with the paper's noise: k cells have δ_k(ε), one cell has the δ of eq. (12), and the bound
    for consistent keys is p(0) = C. *)
Theorem tablebuilder_promises {A} D gamma (HD : (1 <= D)%Z) (cells : list (A -> bool)) k eps :
  (forall r, (length (filter (fun q => q r) cells) <= k)%nat) ->
  private one_record (fun x => answers (noise D gamma HD) (counts cells x)) eps
    (delta_k (noise D gamma HD) k eps)
  /\ delta_k (noise D gamma HD) 1 eps = delta D gamma eps
  /\ noise D gamma HD 0%Z = C D gamma.
Proof.
  intros K. repeat split.
  - apply (table_is_private _ D); [reflexivity|exact (symmetric D gamma)|exact K].
  - rewrite (delta_is_the_hockey_stick_sum D gamma eps HD), delta_k_rising, rising_step.
    apply total_ext. intros z _. unfold rising. simpl. rewrite Rplus_0_r. f_equal. ring.
  - simpl. rewrite p_in by lia. rewrite w_0. ring.
Qed.

(** ** δ_k in closed form *)

(** The k-fold convolution of p, restricted to [−D+1, D]. *)
Fixpoint A_k (D : Z) (gamma : R) (k : nat) (t : Z) : R :=
  match k with
  | O => if (t =? 0)%Z then 1 else 0
  | Datatypes.S k => Sum (- D + 1 <= z <= D) (p D gamma z * A_k D gamma k (t - z))
  end.

Lemma A_k_out D gamma k t : (1 <= D)%Z -> (t < - (Z.of_nat k * D) \/ Z.of_nat k * D < t)%Z -> A_k D gamma k t = 0.
Proof.
  intros HD. revert t. induction k as [|k IH]; intros t H; simpl A_k.
  - destruct (Z.eqb_spec t 0); [lia|reflexivity].
  - apply sum_zero. intros z B. rewrite IH by nia. ring.
Qed.

Lemma A_k_shift D gamma k z f :
  (1 <= D)%Z -> (- D + 1 <= z <= D)%Z ->
  Sum (- (Z.of_nat k * D) <= t <= Z.of_nat k * D) (A_k D gamma k t * f (t + z)%Z)
  = Sum (- (Z.of_nat (Datatypes.S k) * D) <= t <= Z.of_nat (Datatypes.S k) * D) (A_k D gamma k (t - z) * f t).
Proof.
  intros HD B.
  rewrite <- (sum_ext _ _ (fun t => A_k D gamma k (t + z - z) * f (t + z)%Z)) by (intros; do 2 f_equal; lia).
  rewrite <- (sum_shift z _ _ (fun t => A_k D gamma k (t - z) * f t)).
  apply sum_support. intros t H.
  assert (I : (- (Z.of_nat k * D) <= t - z <= Z.of_nat k * D)%Z).
  { destruct (Z_lt_dec (t - z) (- (Z.of_nat k * D))), (Z_lt_dec (Z.of_nat k * D) (t - z)); try lia;
      exfalso; apply H; rewrite A_k_out by (auto; lia); ring. }
  nia.
Qed.

Lemma rising_without_b (P : pmf Z) k a : 0 <= a -> rising P k a 0 = a.
Proof.
  revert a. induction k as [|k IH]; intros a H.
  - unfold rising. simpl. rewrite positive_pos by lra. ring.
  - rewrite rising_step. rewrite (total_ext _ _ (fun z => a * P z)).
    + rewrite total_scal, normalised. ring.
    + intros z _. rewrite Rmult_0_l. apply IH. apply Rmult_le_pos; [assumption|apply nonnegative].
Qed.

Lemma rising_closed D gamma (HD : (1 <= D)%Z) k a b :
  0 <= a -> 0 <= b ->
  rising (noise D gamma HD) k a b
  = a * (1 - (1 - p D gamma (- D)) ^ k)
    + Sum (- (Z.of_nat k * D) <= t <= Z.of_nat k * D)
        (A_k D gamma k t * positive (a - b * exp (- gamma * (INR k - 2 * IZR t)))).
Proof.
  revert a b. induction k as [|k IH]; intros a b Ha Hb.
  - simpl Z.of_nat. rewrite sum_one. unfold rising. simpl. rewrite !Rmult_1_r.
    replace (- gamma * (0 - 2 * 0)) with 0 by ring. rewrite exp_0, Rmult_1_r. ring.
  - rewrite rising_step. change (support (noise D gamma HD)) with (range (- D) D).
    change (sum (- D) D (fun z => rising (noise D gamma HD) k (a * p D gamma z) (b * p D gamma (z - 1)))
      = a * (1 - (1 - p D gamma (- D)) ^ Datatypes.S k)
        + Sum (- (Z.of_nat (Datatypes.S k) * D) <= t <= Z.of_nat (Datatypes.S k) * D)
            (A_k D gamma (Datatypes.S k) t * positive (a - b * exp (- gamma * (INR (Datatypes.S k) - 2 * IZR t))))).
    assert (One : p D gamma (- D) + Sum (- D + 1 <= z <= D) p D gamma z = 1).
    { rewrite <- sum_first by lia. apply adds_up_to_1. lia. }
    rewrite sum_first by lia. rewrite (p_out D gamma (- D - 1)) by lia. rewrite Rmult_0_r.
    rewrite rising_without_b by (apply Rmult_le_pos; [assumption|apply p_nonneg]).
    set (f := fun t => positive (a - b * exp (- gamma * (INR (Datatypes.S k) - 2 * IZR t)))).
    set (rest := a * (1 - (1 - p D gamma (- D)) ^ k)).
    rewrite (sum_ext (- D + 1) D _ (fun z => rest * p D gamma z
      + Sum (- (Z.of_nat (Datatypes.S k) * D) <= t <= Z.of_nat (Datatypes.S k) * D)
          (p D gamma z * A_k D gamma k (t - z) * f t))).
    + rewrite sum_plus, sum_scal.
      set (T := sum (- D + 1) D (p D gamma)).
      replace T with (1 - p D gamma (- D)) by (change T with (Sum (- D + 1 <= z <= D) p D gamma z); lra).
      rewrite sum_swap.
      rewrite (sum_ext (- (Z.of_nat (Datatypes.S k) * D)) _ _ (fun t => A_k D gamma (Datatypes.S k) t * f t)).
      * unfold rest, f. rewrite <- tech_pow_Rmult. ring.
      * intros t _. simpl A_k. rewrite (Rmult_comm _ (f t)), <- sum_scal. apply sum_ext. intros z _. ring.
    + intros z B. assert (Pz : 0 < p D gamma z) by (apply p_pos; lia).
      assert (R : p D gamma (z - 1) = p D gamma z * exp (- gamma * (1 - 2 * IZR z))).
      { rewrite !p_in by lia. rewrite (w_ratio gamma z).
        replace (- gamma * (1 - 2 * IZR z)) with (- (gamma * (1 - 2 * IZR z))) by ring. rewrite exp_Ropp.
        field. apply Rgt_not_eq, exp_pos. }
      rewrite R. replace (a * p D gamma z) with (p D gamma z * a) by ring.
      replace (b * (p D gamma z * exp (- gamma * (1 - 2 * IZR z))))
        with (p D gamma z * (b * exp (- gamma * (1 - 2 * IZR z)))) by ring.
      rewrite rising_scal by lra. rewrite IH; [|assumption|apply Rmult_le_pos; [assumption|apply Rlt_le, exp_pos]].
      fold rest. rewrite Rmult_plus_distr_l. f_equal; [ring|].
      rewrite (sum_ext (- (Z.of_nat k * D)) _ _ (fun t => A_k D gamma k t * f (t + z)%Z)).
      * rewrite A_k_shift by assumption. rewrite <- sum_scal. apply sum_ext. intros t _. ring.
      * intros t _. unfold f. rewrite Rmult_assoc, <- exp_plus, S_INR, plus_IZR.
        replace (- gamma * (1 - 2 * IZR z) + - gamma * (INR k - 2 * IZR t))
          with (- gamma * (INR k + 1 - 2 * (IZR t + IZR z))) by ring. reflexivity.
Qed.

(** δ_k(ε) of the paper's noise, in closed form:
    1 − (1 − p(−D))^k + Σ_t A_k(t) (1 − e^(ε − γ(k − 2t)))⁺. *)
Theorem delta_k_closed_form D gamma (HD : (1 <= D)%Z) k eps :
  delta_k (noise D gamma HD) k eps
  = 1 - (1 - p D gamma (- D)) ^ k
    + Sum (- (Z.of_nat k * D) <= t <= Z.of_nat k * D)
        (A_k D gamma k t * positive (1 - exp (eps - gamma * (INR k - 2 * IZR t)))).
Proof.
  rewrite delta_k_rising, rising_closed; [|lra|apply Rlt_le, exp_pos]. rewrite Rmult_1_l. f_equal.
  apply sum_ext. intros t _. do 3 f_equal. rewrite <- exp_plus. f_equal. ring.
Qed.
