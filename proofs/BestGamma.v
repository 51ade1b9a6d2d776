(** Past the paper: for given D and ε, the γ of least δ is a kink. *)

From Coq Require Import Reals ZArith List Lra Lia Bool.
From Coquelicot Require Import Coquelicot.
From TableBuilder Require Import Sums Privacy Mechanism Noise Proposition2 Design Variance.
Import ListNotations.
Local Open Scope R_scope.

(** The kinks are ε/(2m − 1) for m = 1, …, D; the paper takes m = D. *)
Definition kink (eps : R) (m : Z) : R := eps / (2 * IZR m - 1).

Section Piece.
Variables (D k : Z) (eps : R).
Hypothesis HD : (1 <= D)%Z.
Hypothesis Hk : (0 <= k < D)%Z.
Hypothesis eps_pos : 0 < eps.

(* A piece: the γ for which E* ends at −k, both ends included. *)
Let piece (g : R) : Prop := 0 < g /\ g * (2 * IZR k - 1) <= eps <= g * (2 * IZR k + 1).

(* δ = N/S there. *)
Let N (g : R) : R := w g k - (exp eps - 1) * Sum (k + 1 <= a <= D) w g a.

Lemma reflected a b (f : Z -> R) : (forall z, f (- z)%Z = f z) -> sum (- b) (- a) f = sum a b f.
Proof. intros E. rewrite (sum_reflect a b). apply sum_ext. intros z _. symmetry. apply E. Qed.

Lemma delta_piece g : piece g -> delta D g eps = N g / S D g.
Proof.
  intros (G & L & U).
  assert (K : eps = 2 * g * (eps / (2 * g))) by (field; lra).
  rewrite (delta_up_to D g eps HD G (- k)).
  - rewrite C_S by lia. unfold N, Rdiv.
    replace (Sum (- D + 1 <= z <= - k) (w g z - exp eps * w g (z - 1)))
      with (Sum (k <= a <= D - 1) w g a - exp eps * Sum (k + 1 <= a <= D) w g a).
    + assert (A : Sum (k <= a <= D) w g a = w g k + Sum (k + 1 <= a <= D) w g a) by (apply sum_first; lia).
      assert (B : Sum (k <= a <= D) w g a = Sum (k <= a <= D - 1) w g a + w g D) by (apply sum_last; lia).
      replace (Sum (k <= a <= D - 1) w g a) with (w g k + Sum (k + 1 <= a <= D) w g a - w g D) by lra. ring.
    + rewrite sum_minus, sum_scal. f_equal.
      * replace (- D + 1)%Z with (- (D - 1))%Z by lia. symmetry. apply reflected. intros; apply w_even.
      * f_equal. rewrite <- (reflected (k + 1) D) by (intros; apply w_even).
        replace (- D + 1)%Z with (- D + 1)%Z by lia. replace (- k)%Z with (- (k + 1) + 1)%Z by lia.
        rewrite (sum_shift 1 (- D) (- (k + 1)) (fun z => w g (z - 1))). apply sum_ext. intros z _. f_equal. lia.
  - lia.
  - intros z B. assert (IZR z <= IZR (- k)) by (apply IZR_le; lia). rewrite opp_IZR in H.
    unfold threshold. set (t := eps / (2 * g)) in *. nra.
  - intros z B. assert (IZR (- k + 1) <= IZR z) by (apply IZR_le; lia). rewrite plus_IZR, opp_IZR in H.
    unfold threshold. set (t := eps / (2 * g)) in *. nra.
Qed.

Let r (g : R) (a : Z) : R := exp (- g * (IZR a ^ 2 - IZR k ^ 2)).
Let A (g : R) : R := 1 - (exp eps - 1) * Sum (k + 1 <= a <= D) r g a.
Let B (g : R) : R := (exp eps - 1) * Sum (k + 1 <= a <= D) ((IZR a ^ 2 - IZR k ^ 2) * r g a).
(* The sign of dδ/dγ. *)
Let G (g : R) : R := (V D g - IZR k ^ 2) * A g + B g.

Lemma gap_pos a : (k + 1 <= a <= D)%Z -> 0 < IZR a ^ 2 - IZR k ^ 2.
Proof.
  intros I. assert (0 <= IZR k) by (apply IZR_le; lia). assert (IZR k < IZR a) by (apply IZR_lt; lia). nra.
Qed.

Lemma q_minus_1 : 0 < exp eps - 1.
Proof. assert (H := exp_ineq1 eps ltac:(lra)). lra. Qed.

Lemma r_w g a : w g a = w g k * r g a.
Proof. unfold w, r. rewrite <- exp_plus. f_equal. ring. Qed.

Lemma N_A g : N g = w g k * A g.
Proof.
  unfold N, A. replace (Sum (k + 1 <= a <= D) w g a) with (w g k * Sum (k + 1 <= a <= D) r g a); [ring|].
  rewrite <- sum_scal. apply sum_ext. intros a _. symmetry. apply r_w.
Qed.

Lemma A_pos g : piece g -> 0 < A g.
Proof.
  intros P. assert (P' := P). destruct P' as (Gp & _).
  assert (H := delta_lower_bound D g eps HD). assert (H' := p_pos D g (- D) ltac:(lia)).
  rewrite (delta_piece g P), N_A in H. assert (Sp := S_pos D g ltac:(lia)). assert (Wp := w_pos g k).
  assert (Q : 0 < w g k * A g / S D g) by lra.
  apply Rmult_lt_reg_l with (w g k / S D g); [apply Rdiv_lt_0_compat; assumption|].
  rewrite Rmult_0_r. unfold Rdiv in *. lra.
Qed.

Lemma r_falls g g' a : (k + 1 <= a <= D)%Z -> g < g' -> r g' a < r g a.
Proof. intros I L. assert (H := gap_pos a I). apply exp_increasing. nra. Qed.

Lemma A_grows g g' : g < g' -> A g <= A g'.
Proof.
  intros L. unfold A. assert (Q := q_minus_1).
  assert (Sum (k + 1 <= a <= D) r g' a <= Sum (k + 1 <= a <= D) r g a); [|nra].
  apply sum_le. intros a I. apply Rlt_le, r_falls; assumption.
Qed.

Lemma B_falls g g' : g < g' -> B g' <= B g.
Proof.
  intros L. unfold B. apply Rmult_le_compat_l; [apply Rlt_le, q_minus_1|].
  apply sum_le. intros a I. apply Rmult_le_compat_l; [apply Rlt_le, gap_pos, I|apply Rlt_le, r_falls; assumption].
Qed.

Lemma B_nonneg g : 0 <= B g.
Proof.
  apply Rmult_le_pos; [apply Rlt_le, q_minus_1|]. apply sum_nonneg. intros a I.
  apply Rmult_le_pos; [apply Rlt_le, gap_pos, I|apply Rlt_le, exp_pos].
Qed.

(* Once it does not rise, it falls. *)
Lemma G_stays_negative g g' : piece g -> g < g' -> G g <= 0 -> G g' < 0.
Proof.
  intros P L H. assert (Ap := A_pos g P). assert (Ag := A_grows g g' L). assert (Bf := B_falls g g' L).
  assert (Bn := B_nonneg g). assert (Vf := variance_falls D g g' HD L).
  assert (X : V D g - IZR k ^ 2 <= 0).
  { apply Rnot_lt_le. intros Q. assert (0 < (V D g - IZR k ^ 2) * A g) by (apply Rmult_lt_0_compat; assumption).
    unfold G in H. lra. }
  unfold G in *. nra.
Qed.

Lemma S_derive g : is_derive (S D) g (- moment D 2 g).
Proof.
  apply (is_derive_ext (moment D 0)); [intros; apply moment_0|]. apply (moment_derive D 0 g).
Qed.

Lemma w_derive g a : is_derive (fun x => w x a) g (- (IZR a ^ 2 * w g a)).
Proof.
  assert (E : forall b, is_derive (fun x => exp (- x * b)) g (- (b * exp (- g * b)))).
  { intros b. auto_derive; [exact I|]. ring. }
  apply E.
Qed.

Lemma N_derive g : is_derive N g
  (- (IZR k ^ 2 * w g k) - (exp eps - 1) * Sum (k + 1 <= a <= D) (- (IZR a ^ 2 * w g a))).
Proof.
  unfold N. apply (is_derive_minus (fun x => w x k) (fun x => (exp eps - 1) * Sum (k + 1 <= a <= D) w x a)).
  - apply w_derive.
  - apply (is_derive_scal (fun x => Sum (k + 1 <= a <= D) w x a)).
    apply (total_derive _ (fun x a => w x a)). intros a _. apply w_derive.
Qed.

Lemma slope g : is_derive (fun x => N x / S D x) g (w g k * G g / S D g).
Proof.
  assert (Sp := S_pos D g ltac:(lia)).
  assert (Q := is_derive_div N (S D) g _ _ (N_derive g) (S_derive g) (Rgt_not_eq _ _ Sp)).
  replace (w g k * G g / S D g) with
    (((- (IZR k ^ 2 * w g k) - (exp eps - 1) * Sum (k + 1 <= a <= D) (- (IZR a ^ 2 * w g a))) * S D g
      - N g * - moment D 2 g) / S D g ^ 2); [exact Q|].
  assert (M : moment D 2 g = V D g * S D g) by (rewrite V_moment, moment_0 by lia; field; lra).
  rewrite M, N_A. unfold G, A, B.
  rewrite (sum_ext (k + 1) D (fun a => - (IZR a ^ 2 * w g a))
    (fun a => - w g k * ((IZR a ^ 2 - IZR k ^ 2) * r g a) + - (w g k * IZR k ^ 2) * r g a))
    by (intros a _; rewrite (r_w g a); ring).
  rewrite sum_plus, !sum_scal. change (sum (k + 1) D (r g)) with (Sum (k + 1 <= a <= D) r g a). field. lra.
Qed.

Lemma continuous_there g : continuity_pt (fun x => N x / S D x) g.
Proof. apply derivable_continuous_pt. exists (w g k * G g / S D g). apply is_derive_Reals, slope. Qed.

Lemma between a b x : piece a -> piece b -> a <= x <= b -> piece x.
Proof.
  intros (A1 & A2 & A3) (B1 & B2 & B3) X. assert (0 <= IZR k) by (apply IZR_le; lia).
  split; [lra|]. split; [|nra]. destruct (Rle_dec 0 (2 * IZR k - 1)); nra.
Qed.

Lemma rise a x : piece a -> piece x -> a < x -> 0 < G x -> delta D a eps < delta D x eps.
Proof.
  intros Pa Px L H. rewrite !delta_piece by assumption.
  destruct (MVT_gen (fun y => N y / S D y) a x (fun y => w y k * G y / S D y)) as (c & [C1 C2] & E).
  - intros y _. apply slope.
  - intros y _. apply continuous_there.
  - rewrite Rmin_left in C1 by lra. rewrite Rmax_right in C2 by lra.
    assert (Pc : piece c) by (apply (between a x); auto).
    assert (0 < G c).
    { destruct (Req_dec c x) as [->|Ne]; [exact H|]. apply Rnot_le_lt. intros Q.
      assert (Y := G_stays_negative c x Pc ltac:(lra) Q). lra. }
    assert (0 < w c k * G c / S D c).
    { apply Rdiv_lt_0_compat; [apply Rmult_lt_0_compat; [apply w_pos|assumption]|apply S_pos; lia]. }
    cbv beta in E. set (u := w c k * G c / S D c) in *. nra.
Qed.

Lemma fall x b : piece x -> piece b -> x < b -> G x <= 0 -> delta D b eps < delta D x eps.
Proof.
  intros Px Pb L H.
  assert (W : forall y z, x <= y -> y < z -> z <= b -> delta D z eps <= delta D y eps
    /\ (x < y -> delta D z eps < delta D y eps)).
  { intros y z X1 X2 X3. rewrite !delta_piece by (apply (between x b); auto; lra).
    destruct (MVT_gen (fun y => N y / S D y) y z (fun y => w y k * G y / S D y)) as (c & [C1 C2] & E).
    - intros u _. apply slope.
    - intros u _. apply continuous_there.
    - rewrite Rmin_left in C1 by lra. rewrite Rmax_right in C2 by lra.
      assert (Wp : 0 < w c k / S D c) by (apply Rdiv_lt_0_compat; [apply w_pos|apply S_pos; lia]).
      replace (w c k * G c / S D c) with (w c k / S D c * G c) in E by (unfold Rdiv; ring).
      assert (Gc : G c <= 0 /\ (x < c -> G c < 0)).
      { destruct (Req_dec c x) as [->|Ne]; [split; lra|].
        assert (Y := G_stays_negative x c Px ltac:(lra) H). split; lra. }
      destruct Gc as [G1 G2]. cbv beta in E.
      assert (U : w c k / S D c * G c <= 0 /\ (x < c -> w c k / S D c * G c < 0)) by (split; intros; nra).
      set (u := w c k / S D c * G c) in *. destruct U as [U1 U2].
      split; [nra|]. intros X. assert (u < 0) by (apply U2; lra). nra. }
  set (m := (x + b) / 2). assert (M : x < m < b) by (unfold m; lra).
  destruct (W x m ltac:(lra) ltac:(lra) ltac:(lra)) as [W1 _].
  destruct (W m b ltac:(lra) ltac:(lra) ltac:(lra)) as [_ W2].
  assert (W3 := W2 (proj1 M)). lra.
Qed.

(* An end of the piece is better. *)
Lemma better_end a x b : piece a -> piece b -> a < x < b ->
  delta D a eps < delta D x eps \/ delta D b eps < delta D x eps.
Proof.
  intros Pa Pb X. assert (Px : piece x) by (apply (between a b); auto; lra).
  destruct (Rlt_le_dec 0 (G x)) as [H|H].
  - left. apply rise; auto; lra.
  - right. apply fall; auto; lra.
Qed.

Lemma rise_at_0 a x : k = 0%Z -> piece a -> piece x -> a < x -> delta D a eps < delta D x eps.
Proof.
  intros K Pa Px L. apply rise; auto. unfold G. rewrite K.
  assert (0 < V D x) by (apply V_pos, HD). assert (Ap := A_pos x Px). assert (Bn := B_nonneg x).
  replace (V D x - 0 ^ 2) with (V D x) by ring. nra.
Qed.

End Piece.

Lemma kink_pos eps m : (1 <= m)%Z -> 0 < eps -> 0 < kink eps m.
Proof. intros H E. assert (1 <= IZR m) by (apply IZR_le; lia). apply Rdiv_lt_0_compat; lra. Qed.

Lemma kink_times eps m : (1 <= m)%Z -> kink eps m * (2 * IZR m - 1) = eps.
Proof. intros H. assert (1 <= IZR m) by (apply IZR_le; lia). unfold kink. field. lra. Qed.

Lemma kink_is g eps m : (1 <= m)%Z -> g * (2 * IZR m - 1) = eps -> g = kink eps m.
Proof. intros H E. assert (1 <= IZR m) by (apply IZR_le; lia). unfold kink. rewrite <- E. field. lra. Qed.

Lemma piece_exists D eps g :
  (1 <= D)%Z -> 0 < g -> eps < g * (2 * IZR D - 1) -> 0 < eps ->
  exists k, (0 <= k < D)%Z /\ 0 < g /\ g * (2 * IZR k - 1) <= eps <= g * (2 * IZR k + 1).
Proof.
  intros HD G L E.
  assert (Y : eps <= g * (2 * IZR (Z.of_nat (Z.to_nat (D - 1))) + 1)) by (rewrite Z2Nat.id, minus_IZR by lia; lra).
  assert (Z1 : (Z.of_nat (Z.to_nat (D - 1)) < D)%Z) by lia.
  revert Y Z1. generalize (Z.to_nat (D - 1)) as n. induction n as [|n IH]; intros Y Z1.
  - exists 0%Z. simpl in Y. repeat split; lia || lra.
  - destruct (Rle_dec eps (g * (2 * IZR (Z.of_nat n) + 1))) as [Q|Q].
    + apply IH; [exact Q|lia].
    + exists (Z.of_nat (Datatypes.S n)). repeat split; try lia; try assumption.
      rewrite Nat2Z.inj_succ. unfold Z.succ. rewrite plus_IZR. lra.
Qed.

Lemma a_kink_is_better D eps g :
  (1 <= D)%Z -> 0 < eps -> 0 < g ->
  exists m, (1 <= m <= D)%Z /\ (g = kink eps m \/ delta D (kink eps m) eps < delta D g eps).
Proof.
  intros HD E G. assert (D1 : 1 <= IZR D) by (apply IZR_le; lia).
  destruct (Rle_dec (g * (2 * IZR D - 1)) eps) as [L|L].
  - exists D. split; [lia|]. assert (K := kink_times eps D HD). assert (Kp := kink_pos eps D HD E).
    destruct (Req_dec g (kink eps D)) as [->|N]; [left; reflexivity|right].
    rewrite (proj2 (plateau D g eps HD G E) L).
    rewrite (proj2 (plateau D (kink eps D) eps HD Kp E)) by lra.
    apply edge_falls; [assumption|]. nra.
  - destruct (piece_exists D eps g HD G ltac:(lra) E) as (k & Hk & _ & Lo & U).
    destruct (Z.eq_dec k 0) as [K0|K0].
    + exists 1%Z. split; [lia|]. assert (K : kink eps 1 = eps) by (unfold kink; field).
      rewrite K. destruct (Req_dec g eps) as [->|N]; [left; reflexivity|right].
      rewrite K0 in U. simpl in U.
      apply (rise_at_0 D 0 eps HD ltac:(lia) E eps g eq_refl); [repeat split; lra|repeat split; lra|lra].
    + assert (k1 : 1 <= IZR k) by (apply IZR_le; lia).
      assert (Ka := kink_times eps (k + 1) ltac:(lia)). assert (Kap := kink_pos eps (k + 1) ltac:(lia) E).
      assert (Kb := kink_times eps k ltac:(lia)). assert (Kbp := kink_pos eps k ltac:(lia) E).
      rewrite plus_IZR in Ka.
      destruct (Req_dec g (kink eps (k + 1))) as [Eq|N]; [exists (k + 1)%Z; split; [lia|left; exact Eq]|].
      destruct (Req_dec g (kink eps k)) as [Eq|N']; [exists k; split; [lia|left; exact Eq]|].
      assert (Sides : kink eps (k + 1) < g < kink eps k).
      { split; apply Rnot_le_lt; intros [X|X]; nra. }
      destruct (better_end D k eps HD ltac:(lia) E (kink eps (k + 1)) g (kink eps k)) as [Q|Q].
      * repeat split; nra.
      * repeat split; nra.
      * exact Sides.
      * exists (k + 1)%Z. split; [lia|right; exact Q].
      * exists k. split; [lia|right; exact Q].
Qed.

(** At a fixed γ a wider support has a smaller δ, at every ε. *)
Theorem wider_is_better D gamma eps :
  (1 <= D)%Z -> 0 < gamma -> 0 < eps -> delta (D + 1) gamma eps < delta D gamma eps.
Proof.
  intros HD G E. assert (D1 : 1 <= IZR D) by (apply IZR_le; lia).
  assert (Q := exp_ineq1 eps ltac:(lra)).
  assert (Grow : S D gamma < S (D + 1) gamma).
  { unfold S. rewrite (sum_first (- (D + 1))) by lia. rewrite (sum_last _ (D + 1)) by lia.
    replace (- (D + 1) + 1)%Z with (- D)%Z by lia. replace (D + 1 - 1)%Z with D by lia.
    assert (X := w_pos gamma (- (D + 1))). assert (Y := w_pos gamma (D + 1)). lra. }
  assert (Sp := S_pos D gamma ltac:(lia)). assert (Wp := w_pos gamma (D + 1)).
  assert (Less : forall n n', 0 < n -> n' < n -> n' / S (D + 1) gamma < n / S D gamma).
  { intros n n' P L. apply quotient_lt; [lra|exact Sp|]. nra. }
  destruct (Rle_dec (gamma * (2 * IZR D - 1)) eps) as [L|L].
  - rewrite (proj2 (plateau D gamma eps HD G E) L).
    replace (C D gamma * w gamma D) with (w gamma D / S D gamma) by (rewrite C_S by lia; unfold Rdiv; ring).
    destruct (Rle_dec (gamma * (2 * IZR (D + 1) - 1)) eps) as [L'|L'].
    + rewrite (proj2 (plateau (D + 1) gamma eps ltac:(lia) G E) L').
      replace (C (D + 1) gamma * w gamma (D + 1)) with (w gamma (D + 1) / S (D + 1) gamma)
        by (rewrite C_S by lia; unfold Rdiv; ring).
      apply Less; [apply w_pos|]. apply exp_increasing. rewrite plus_IZR. nra.
    + rewrite plus_IZR in L'. rewrite (delta_piece (D + 1) D eps ltac:(lia) ltac:(lia) gamma).
      * apply Less; [apply w_pos|]. rewrite sum_one. nra.
      * repeat split; lra.
  - destruct (piece_exists D eps gamma HD G ltac:(lra) E) as (k & Hk & P).
    assert (A := A_pos D k eps HD Hk gamma P).
    rewrite (delta_piece D k eps HD Hk gamma P), (delta_piece (D + 1) k eps ltac:(lia) ltac:(lia) gamma P).
    apply Less.
    + assert (Na := N_A D k eps gamma). cbv beta in Na. rewrite Na. apply Rmult_lt_0_compat; [apply w_pos|exact A].
    + rewrite (sum_last (k + 1) (D + 1)) by lia. replace (D + 1 - 1)%Z with D by lia. nra.
Qed.

(** For every ε the least δ over all γ > 0 is attained at a kink, and nowhere else. *)
Theorem best_gamma_is_a_kink D eps :
  (1 <= D)%Z -> 0 < eps ->
  (exists m, (1 <= m <= D)%Z /\ forall gamma, 0 < gamma -> delta D (kink eps m) eps <= delta D gamma eps)
  /\ forall gamma, 0 < gamma -> (forall gamma', 0 < gamma' -> delta D gamma eps <= delta D gamma' eps) ->
     exists m, (1 <= m <= D)%Z /\ gamma = kink eps m.
Proof.
  intros HD E. split.
  - assert (X : forall n, exists m, (1 <= m <= Z.of_nat n + 1)%Z
      /\ forall m', (1 <= m' <= Z.of_nat n + 1)%Z -> delta D (kink eps m) eps <= delta D (kink eps m') eps).
    { induction n as [|n (m & M & IH)].
      - exists 1%Z. split; [simpl; lia|]. intros m' M'. replace m' with 1%Z by lia. lra.
      - set (t := (Z.of_nat (Datatypes.S n) + 1)%Z).
        destruct (Rle_dec (delta D (kink eps m) eps) (delta D (kink eps t) eps)) as [L|L].
        + exists m. split; [lia|]. intros m' M'. destruct (Z.eq_dec m' t) as [->|N]; [exact L|]. apply IH. lia.
        + exists t. split; [lia|]. intros m' M'. destruct (Z.eq_dec m' t) as [->|N]; [lra|].
          assert (Q := IH m' ltac:(lia)). lra. }
    destruct (X (Z.to_nat (D - 1))) as (m & M & H). exists m. split; [lia|]. intros gamma G.
    destruct (a_kink_is_better D eps gamma HD E G) as (m' & M' & [->|L]).
    + apply H. lia.
    + assert (Q := H m' ltac:(lia)). lra.
  - intros gamma G H. destruct (a_kink_is_better D eps gamma HD E G) as (m & M & [Eq|L]).
    + exists m. auto.
    + assert (Q := H (kink eps m) (kink_pos eps m ltac:(lia) E)). lra.
Qed.
