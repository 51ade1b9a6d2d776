(** Section V: the lookup table, its bias and support, and what it really promises. *)

From Coq Require Import Reals ZArith List Lra Lia Bool.
From TableBuilder Require Import Sums Privacy Mechanism Noise Proposition2 Design.
Import ListNotations.
Local Open Scope R_scope.

(** Eq. (38): the cumulative mass, P(Z ≤ z). *)
Definition c D gamma (z : Z) : R := Sum (- D <= y <= z) p D gamma y.

(** Eq. (39): the cut points, ⌈c(z) · KEYSIZE⌉. *)
Definition cut D gamma (K z : Z) : Z := ceil (c D gamma z * IZR K).

(** Eq. (42) times KEYSIZE: how many keys give the noise z. *)
Definition keys D gamma (K z : Z) : Z := (cut D gamma K z - cut D gamma K (z - 1))%Z.

(** ** Ceilings *)

Lemma ceil_unique x z : IZR z - 1 < x <= IZR z -> ceil x = z.
Proof.
  intros H. assert (ceil x <= z)%Z by (apply ceil_le; lra).
  assert (z - 1 < ceil x)%Z by (apply lt_ceil; rewrite minus_IZR; lra). lia.
Qed.

Lemma ceil_IZR z : ceil (IZR z) = z.
Proof. apply ceil_unique. lra. Qed.

Lemma ceil_minus z x : ceil (IZR z - x) = (z - floor x)%Z.
Proof. apply ceil_unique. rewrite minus_IZR. assert (H := floor_spec x). lra. Qed.

Section Table.
Variables (D : Z) (gamma : R) (K : Z).
Hypothesis HD : (1 <= D)%Z.
Hypothesis gamma_pos : 0 < gamma.
Hypothesis HK : (1 <= K)%Z.

Lemma K_pos : 0 < IZR K.
Proof. apply IZR_lt. lia. Qed.

Lemma c_step z : (- D <= z)%Z -> c D gamma z = c D gamma (z - 1) + p D gamma z.
Proof. intros H. unfold c. apply sum_last. assumption. Qed.

Lemma c_below z : (z < - D)%Z -> c D gamma z = 0.
Proof. intros H. unfold c. apply sum_empty. assumption. Qed.

Lemma c_above z : (D <= z)%Z -> c D gamma z = 1.
Proof.
  intros H. rewrite <- (adds_up_to_1 D gamma) by lia. apply sum_support. intros y N.
  assert (- D <= y <= D)%Z; [|lia].
  destruct (Z_le_dec (- D) y), (Z_le_dec y D); try lia; rewrite p_out in N by lia; lra.
Qed.

Lemma c_symmetric z : (- D <= z < D)%Z -> c D gamma (- z - 1) = 1 - c D gamma z.
Proof.
  intros H. rewrite <- (adds_up_to_1 D gamma) by lia. rewrite (sum_split (- D) z D) by lia.
  fold (c D gamma z). unfold c at 1. rewrite (sum_reflect (z + 1) D).
  replace (- (z + 1))%Z with (- z - 1)%Z by lia.
  rewrite (sum_ext (- D) (- z - 1) (fun y => p D gamma (- y)) (fun y => p D gamma y))
    by (intros; apply symmetric). ring.
Qed.

Lemma edge_mass : p D gamma D = edge D gamma.
Proof. rewrite p_in by lia. reflexivity. Qed.

(** −D has ⌈KEYSIZE·p(D)⌉ keys, D has ⌊KEYSIZE·p(D)⌋. *)
Theorem keys_of_the_ends :
  keys D gamma K (- D) = ceil (edge D gamma * IZR K)
  /\ keys D gamma K D = floor (edge D gamma * IZR K).
Proof.
  unfold keys, cut. split.
  - rewrite (c_below (- D - 1)) by lia. rewrite c_step by lia. rewrite (c_below (- D - 1)) by lia.
    rewrite Rplus_0_l, Rmult_0_l, ceil_IZR, symmetric, edge_mass. lia.
  - rewrite (c_above D) by lia. replace (c D gamma (D - 1)) with (1 - edge D gamma).
    + rewrite Rmult_1_l, ceil_IZR. replace ((1 - edge D gamma) * IZR K) with (IZR K - edge D gamma * IZR K) by ring.
      rewrite ceil_minus. lia.
    + assert (H := c_step D ltac:(lia)). rewrite c_above, edge_mass in H by lia. lra.
Qed.

Lemma edge_least z : (- D <= z <= D)%Z -> edge D gamma <= p D gamma z.
Proof.
  intros B. rewrite p_in by assumption. unfold edge.
  apply Rmult_le_compat_l; [apply Rlt_le, C_pos; lia|]. unfold w.
  assert (IZR z ^ 2 <= IZR D ^ 2) by (apply squares_le; lia).
  destruct (Req_dec (- gamma * IZR D ^ 2) (- gamma * IZR z ^ 2)) as [->|N]; [lra|].
  apply Rlt_le, exp_increasing. nra.
Qed.

(** The table has a key for every value of the support if and only if KEYSIZE·δ ≥ 1. *)
Theorem full_support :
  (forall z, (- D <= z <= D)%Z -> (1 <= keys D gamma K z)%Z) <-> 1 <= IZR K * edge D gamma.
Proof.
  assert (Kp := K_pos). split.
  - intros H. specialize (H D ltac:(lia)). rewrite (proj2 keys_of_the_ends) in H.
    apply le_floor in H. lra.
  - intros H z B. unfold keys, cut. assert (E := edge_least z B).
    assert (X := ceil_spec (c D gamma (z - 1) * IZR K)).
    assert (Y := ceil_spec (c D gamma z * IZR K)). rewrite (c_step z) in Y by lia.
    assert (IZR (ceil (c D gamma (z - 1) * IZR K)) < IZR (ceil ((c D gamma (z - 1) + p D gamma z) * IZR K))) by nra.
    apply lt_IZR in H0. rewrite (c_step z) by lia. lia.
Qed.

Lemma keys_nonneg z : (0 <= keys D gamma K z)%Z.
Proof.
  assert (Kp := K_pos). destruct (Z_lt_dec z (- D)) as [B|B].
  - unfold keys, cut. rewrite !c_below by lia. lia.
  - unfold keys, cut. rewrite (c_step z) by lia. assert (Q := p_nonneg D gamma z).
    assert (X := ceil_spec ((c D gamma (z - 1) + p D gamma z) * IZR K)).
    assert (ceil (c D gamma (z - 1) * IZR K) <= ceil ((c D gamma (z - 1) + p D gamma z) * IZR K))%Z; [|lia].
    apply ceil_le. nra.
Qed.

Lemma keys_out z : (z < - D \/ D < z)%Z -> keys D gamma K z = 0%Z.
Proof.
  intros [B|B]; unfold keys, cut; [rewrite !c_below by lia|rewrite !c_above by lia]; lia.
Qed.

Lemma keys_total : Sum (- D <= z <= D) IZR (keys D gamma K z) = IZR K.
Proof.
  assert (T : forall n, Sum (- D <= z <= - D + Z.of_nat n) IZR (keys D gamma K z)
    = IZR (cut D gamma K (- D + Z.of_nat n))).
  { induction n as [|n IH].
    - rewrite Z.add_0_r, sum_one. unfold keys, cut. rewrite (c_below (- D - 1)) by lia.
      rewrite Rmult_0_l, ceil_IZR. f_equal. lia.
    - rewrite sum_last by lia. replace (- D + Z.of_nat (Datatypes.S n) - 1)%Z with (- D + Z.of_nat n)%Z by lia.
      rewrite IH, <- plus_IZR. f_equal. unfold keys.
      replace (- D + Z.of_nat (Datatypes.S n) - 1)%Z with (- D + Z.of_nat n)%Z by lia. lia. }
  specialize (T (Z.to_nat (2 * D))). replace (- D + Z.of_nat (Z.to_nat (2 * D)))%Z with D in T by lia.
  rewrite T. unfold cut. rewrite c_above by lia. rewrite Rmult_1_l, ceil_IZR. reflexivity.
Qed.

(** No mass moves by as much as one key. *)
Theorem less_than_one_key z :
  (- D <= z)%Z -> Rabs (IZR (keys D gamma K z) - IZR K * p D gamma z) < 1.
Proof.
  intros H. unfold keys, cut. rewrite minus_IZR.
  assert (X := ceil_spec (c D gamma (z - 1) * IZR K)).
  assert (Y := ceil_spec (c D gamma z * IZR K)). rewrite (c_step z) in Y |- * by lia.
  apply Rabs_def1; lra.
Qed.

(** What Lindemann and Weierstrass prove for rational γ: no cut point lies on a whole number of keys. *)
Definition no_ties : Prop :=
  forall z, (- D <= z < D)%Z -> IZR (ceil (c D gamma z * IZR K)) <> c D gamma z * IZR K.

Lemma cut_symmetric z : no_ties -> (- D <= z < D)%Z -> cut D gamma K (- z - 1) = (K + 1 - cut D gamma K z)%Z.
Proof.
  intros T B. unfold cut. rewrite c_symmetric by assumption.
  replace ((1 - c D gamma z) * IZR K) with (IZR K - c D gamma z * IZR K) by ring.
  rewrite ceil_minus. assert (X := ceil_spec (c D gamma z * IZR K)). specialize (T z B).
  rewrite (floor_unique _ (ceil (c D gamma z * IZR K) - 1)); [lia|]. rewrite minus_IZR.
  split; [lra|]. destruct X as [[X|X] Y]; [lra|]. exfalso. apply T. symmetry. exact X.
Qed.

(** Without ties z and −z have the same number of keys, and −D has one more than D. *)
Theorem keys_symmetric :
  no_ties ->
  (forall z, (- D < z < D)%Z -> keys D gamma K (- z) = keys D gamma K z)
  /\ keys D gamma K (- D) = (keys D gamma K D + 1)%Z.
Proof.
  intros T. split.
  - intros z B. unfold keys. replace (- z)%Z with (- (z - 1) - 1)%Z at 1 by lia.
    rewrite !cut_symmetric by (auto; lia). lia.
  - destruct keys_of_the_ends as [-> ->].
    assert (N := T (- D)%Z ltac:(lia)).
    rewrite c_step, (c_below (- D - 1)), Rplus_0_l, symmetric, edge_mass in N by lia.
    assert (X := ceil_spec (edge D gamma * IZR K)).
    rewrite (floor_unique _ (ceil (edge D gamma * IZR K) - 1)); [lia|]. rewrite minus_IZR.
    split; [lra|]. destruct X as [[X|X] Y]; [lra|]. exfalso. apply N. symmetry. exact X.
Qed.

(** Eq. (43): the bias is −D/KEYSIZE. *)
Theorem bias :
  no_ties -> Sum (- D <= z <= D) (IZR z * (IZR (keys D gamma K z) / IZR K)) = - IZR D / IZR K.
Proof.
  intros T. destruct (keys_symmetric T) as [Sy En]. assert (Kp := K_pos).
  rewrite sum_first by lia. rewrite sum_last by lia.
  replace (Sum (- D + 1 <= z <= D - 1) (IZR z * (IZR (keys D gamma K z) / IZR K))) with 0.
  - rewrite En, plus_IZR, opp_IZR. field. lra.
  - symmetry. replace (- D + 1)%Z with (- (D - 1))%Z by lia.
    rewrite (sum_ext _ _ _ (fun z => IZR z * (if ((- D <? z) && (z <? D))%Z then IZR (keys D gamma K z) / IZR K else 0))).
    + apply sum_odd. intros z. rewrite opp_IZR.
      destruct (Z.ltb_spec (- D) z), (Z.ltb_spec z D), (Z.ltb_spec (- D) (- z)), (Z.ltb_spec (- z) D);
        simpl; try lia; try ring. rewrite Sy by lia. ring.
    + intros z B. destruct (Z.ltb_spec (- D) z), (Z.ltb_spec z D); simpl; lia || reflexivity.
Qed.

End Table.

(** Eq. (42): the noise that the lookup table gives, its keys being uniform. *)
Program Definition sampled D gamma K (HD : (1 <= D)%Z) (HK : (1 <= K)%Z) : pmf Z := {|
  mass := fun z => IZR (keys D gamma K z) / IZR K;
  support := range (- D) D
|}.
Next Obligation. apply NoDup_range. Qed.
Next Obligation.
  apply in_range. destruct (Z_le_dec (- D) y), (Z_le_dec y D); try lia;
    exfalso; apply H; rewrite keys_out by (auto; lia); unfold Rdiv; ring.
Qed.
Next Obligation.
  apply Rmult_le_pos; [apply IZR_le, keys_nonneg; assumption|]. apply Rlt_le, Rinv_0_lt_compat, IZR_lt. lia.
Qed.
Next Obligation.
  assert (Kp : 0 < IZR K) by (apply IZR_lt; lia).
  change (Sum (- D <= z <= D) (IZR (keys D gamma K z) / IZR K) = 1).
  rewrite (sum_ext _ _ _ (fun z => / IZR K * IZR (keys D gamma K z))) by (intros; unfold Rdiv; ring).
  rewrite sum_scal, keys_total by assumption. field. lra.
Qed.

(** ** What a table promises *)

Section AnyNoise.
Variables (P : pmf Z) (D : Z).
Hypothesis HD : (1 <= D)%Z.
Hypothesis P_support : support P = range (- D) D.

Lemma P_out z : (z < - D \/ D < z)%Z -> P z = 0.
Proof.
  intros H. destruct (Req_EM_T (P z) 0) as [E|E]; [exact E|]. apply supported in E.
  rewrite P_support, in_range in E. lia.
Qed.

Lemma rise_only lambda :
  0 <= lambda -> (forall z, (- D < z <= D)%Z -> P z <= lambda * P (z - 1)%Z) ->
  hockey lambda P (shifted 1 P) = P (- D)%Z.
Proof.
  intros L H. unfold hockey. simpl. rewrite P_support.
  change (sum (- D) D (fun y => positive (P y - lambda * P (y - 1)%Z)) = P (- D)%Z).
  rewrite sum_first by lia. rewrite (P_out (- D - 1)) by lia. rewrite sum_zero.
  - rewrite positive_pos; [ring|]. assert (X := nonnegative _ P (- D)%Z). lra.
  - intros z B. apply positive_neg. assert (X := H z ltac:(lia)). lra.
Qed.

Lemma fall_only lambda :
  0 <= lambda -> (forall z, (- D < z <= D)%Z -> P (z - 1)%Z <= lambda * P z) ->
  hockey lambda (shifted 1 P) P = P D.
Proof.
  intros L H. unfold hockey. simpl. rewrite total_map, P_support.
  change (sum (- D) D (fun y => positive (P (y + 1 - 1)%Z - lambda * P (y + 1)%Z)) = P D).
  rewrite sum_last by lia. rewrite (P_out (D + 1)) by lia. rewrite sum_zero.
  - replace (D + 1 - 1)%Z with D by lia. rewrite positive_pos; [ring|].
    assert (X := nonnegative _ P D). lra.
  - intros z B. apply positive_neg. assert (X := H (z + 1)%Z ltac:(lia)). lra.
Qed.

(** If all ratios of neighbouring masses, in both directions, are at most e^ε, the least δ is the
    larger mass of the two ends: the pair that is a guarantee. *)
Theorem two_sided_pair {A} (q : A -> bool) least r eps delta' :
  0 <= eps -> q r = true ->
  (forall z, (- D < z <= D)%Z -> P z <= exp eps * P (z - 1)%Z /\ P (z - 1)%Z <= exp eps * P z) ->
  private (neighbours q least) (mechanism P q) eps delta' <-> Rmax (P (- D)%Z) (P D) <= delta'.
Proof.
  intros E R H. rewrite (private_is_both_directions P q least eps delta' r E R).
  assert (L : 0 <= exp eps) by apply Rlt_le, exp_pos.
  rewrite rise_only by (auto; intros; apply H; assumption).
  rewrite fall_only by (auto; intros; apply H; assumption).
  split; [intros []; apply Rmax_lub; assumption|].
  intros M. split; (eapply Rle_trans; [|exact M]); [apply Rmax_l|apply Rmax_r].
Qed.

End AnyNoise.
