(** Sections III-C and III-D: the range of γ, Proposition 3, and the smallest support D*. *)

From Coq Require Import Reals ZArith List Lra Lia Bool.
From TableBuilder Require Import Sums Privacy Mechanism Noise Proposition2.
Import ListNotations.
Local Open Scope R_scope.

(** The mass at the end of the support, δ of the first case of Proposition 2. *)
Definition edge (D : Z) (gamma : R) : R := C D gamma * w gamma D.

(** ** How C and the edge run with γ *)

Lemma square_pos z : z <> 0%Z -> 0 < IZR z ^ 2.
Proof. intros H. apply IZR_neq in H. nra. Qed.

Lemma squares_le a b : (Z.abs a <= Z.abs b)%Z -> IZR a ^ 2 <= IZR b ^ 2.
Proof.
  intros H. rewrite <- (pow2_abs (IZR a)), <- (pow2_abs (IZR b)), <- !abs_IZR.
  apply pow_incr. split; [apply IZR_le; lia|apply IZR_le, H].
Qed.

Lemma w_falls gamma gamma' z : gamma <= gamma' -> w gamma' z <= w gamma z.
Proof.
  intros H. unfold w. destruct (Req_dec (- gamma' * IZR z ^ 2) (- gamma * IZR z ^ 2)) as [->|N]; [lra|].
  apply Rlt_le, exp_increasing. assert (0 <= IZR z ^ 2) by apply pow2_ge_0. nra.
Qed.

Lemma w_falls_strictly gamma gamma' z : z <> 0%Z -> gamma < gamma' -> w gamma' z < w gamma z.
Proof.
  intros N H. apply square_pos in N. apply exp_increasing. nra.
Qed.

Lemma S_falls D gamma gamma' : (1 <= D)%Z -> gamma < gamma' -> S D gamma' < S D gamma.
Proof.
  intros HD H. apply sum_lt with 1%Z; [lia| |apply w_falls_strictly; [lia|assumption]].
  intros z _. apply w_falls. lra.
Qed.

(** C grows strictly with γ. *)
Theorem C_grows D gamma gamma' : (1 <= D)%Z -> gamma < gamma' -> C D gamma < C D gamma'.
Proof.
  intros HD H. rewrite !C_S by lia. apply Rinv_lt_contravar.
  - apply Rmult_lt_0_compat; apply S_pos; lia.
  - apply S_falls; assumption.
Qed.

(** 1/edge = Σ e^(γ(D² − z²)) *)
Lemma edge_inverse D gamma :
  (1 <= D)%Z -> edge D gamma = / Sum (- D <= z <= D) exp (gamma * (IZR D ^ 2 - IZR z ^ 2)).
Proof.
  intros HD. unfold edge. rewrite C_S by lia.
  replace (Sum (- D <= z <= D) exp (gamma * (IZR D ^ 2 - IZR z ^ 2))) with (S D gamma * / w gamma D).
  - field. split; apply Rgt_not_eq; [apply w_pos|apply S_pos; lia].
  - rewrite Rmult_comm. unfold S. rewrite <- sum_scal. apply sum_ext. intros z _.
    unfold w. rewrite <- exp_Ropp, <- exp_plus. f_equal. ring.
Qed.

Lemma inverse_falls a b : 0 < a -> a < b -> / b < / a.
Proof. intros H L. apply Rinv_lt_contravar; [|assumption]. apply Rmult_lt_0_compat; lra. Qed.

(** C e^(−γD²) falls strictly as γ grows. *)
Theorem edge_falls D gamma gamma' : (1 <= D)%Z -> gamma < gamma' -> edge D gamma' < edge D gamma.
Proof.
  intros HD H. rewrite !edge_inverse by assumption.
  assert (Q : forall z, (- D <= z <= D)%Z -> IZR z ^ 2 <= IZR D ^ 2) by (intros; apply squares_le; lia).
  assert (0 < IZR D ^ 2) by (apply square_pos; lia).
  apply inverse_falls.
  - apply Rlt_le_trans with (exp (gamma * (IZR D ^ 2 - IZR 0 ^ 2))); [apply exp_pos|].
    apply (sum_term _ _ (fun z => exp (gamma * (IZR D ^ 2 - IZR z ^ 2)))); [lia|].
    intros; apply Rlt_le, exp_pos.
  - apply sum_lt with 0%Z; [lia| |].
    + intros z B. destruct (Req_dec (gamma * (IZR D ^ 2 - IZR z ^ 2)) (gamma' * (IZR D ^ 2 - IZR z ^ 2))) as [->|N]; [lra|].
      apply Rlt_le, exp_increasing. specialize (Q z B). nra.
    + apply exp_increasing. simpl IZR. nra.
Qed.

(** The edge is the smallest mass, at most 1/(2D+1). *)
Lemma edge_below D gamma : (1 <= D)%Z -> 0 <= gamma -> (2 * IZR D + 1) * edge D gamma <= 1.
Proof.
  intros HD G. apply Rle_trans with (Sum (- D <= z <= D) p D gamma z); [|rewrite adds_up_to_1 by lia; lra].
  apply Rle_trans with (Sum (- D <= z <= D) edge D gamma).
  - clear G. assert (L : forall n a (c : R), Sum (a <= z <= a + Z.of_nat n - 1) c = INR n * c).
    { induction n as [|n IH]; intros a c.
      - rewrite sum_empty by lia. simpl. ring.
      - rewrite sum_first by lia. replace (a + Z.of_nat (Datatypes.S n) - 1)%Z with (a + 1 + Z.of_nat n - 1)%Z by lia.
        rewrite IH, S_INR. ring. }
    specialize (L (Z.to_nat (2 * D + 1)) (- D)%Z (edge D gamma)).
    replace (- D + Z.of_nat (Z.to_nat (2 * D + 1)) - 1)%Z with D in L by lia.
    rewrite L, INR_IZR_INZ, Z2Nat.id by lia. rewrite plus_IZR, mult_IZR. lra.
  - apply sum_le. intros z B. rewrite p_in by assumption. unfold edge.
    apply Rmult_le_compat_l; [apply Rlt_le, C_pos; lia|]. unfold w.
    assert (IZR z ^ 2 <= IZR D ^ 2) by (apply squares_le; lia).
    destruct (Req_dec (- gamma * IZR D ^ 2) (- gamma * IZR z ^ 2)) as [->|N]; [lra|].
    apply Rlt_le, exp_increasing. nra.
Qed.

Lemma edge_pos D gamma : (1 <= D)%Z -> 0 < edge D gamma.
Proof. intros HD. apply Rmult_lt_0_compat; [apply C_pos; lia|apply w_pos]. Qed.

(** ** The range of γ *)

(** Eqs. (22) and (23): z* = −D if and only if ε/(2D+1) ≤ γ < ε/(2D−1). *)
Theorem range_of_gamma D gamma eps :
  (1 <= D)%Z -> 0 < gamma -> 0 < eps ->
  z_star gamma eps = (- D)%Z <-> eps / (2 * IZR D + 1) <= gamma < eps / (2 * IZR D - 1).
Proof.
  intros HD G E. assert (1 <= IZR D) by (apply IZR_le; lia).
  assert (K : eps = 2 * gamma * (eps / (2 * gamma))) by (field; lra).
  assert (A : eps / (2 * IZR D + 1) <= gamma <-> eps <= gamma * (2 * IZR D + 1)).
  { split; intros L.
    - apply Rmult_le_compat_r with (r := 2 * IZR D + 1) in L; [|lra].
      replace (eps / (2 * IZR D + 1) * (2 * IZR D + 1)) with eps in L by (field; lra). lra.
    - apply Rmult_le_reg_r with (2 * IZR D + 1); [lra|].
      replace (eps / (2 * IZR D + 1) * (2 * IZR D + 1)) with eps by (field; lra). lra. }
  assert (B : gamma < eps / (2 * IZR D - 1) <-> gamma * (2 * IZR D - 1) < eps).
  { split; intros L.
    - apply Rmult_lt_compat_r with (r := 2 * IZR D - 1) in L; [|lra].
      replace (eps / (2 * IZR D - 1) * (2 * IZR D - 1)) with eps in L by (field; lra). lra.
    - apply Rmult_lt_reg_r with (2 * IZR D - 1); [lra|].
      replace (eps / (2 * IZR D - 1) * (2 * IZR D - 1)) with eps by (field; lra). lra. }
  rewrite A, B. unfold z_star. set (t := eps / (2 * gamma)) in *.
  assert (T : threshold gamma eps = 1 / 2 - t) by reflexivity.
  split.
  - intros F. assert (Q := floor_spec (threshold gamma eps)). rewrite F, T, opp_IZR in Q.
    split; nra.
  - intros [L R]. apply floor_unique. rewrite T, opp_IZR. split; nra.
Qed.

(** ** Proposition 3 *)

(** Proposition 3 with the right sign, γ = ε/(2D−1) + ι: z* = −D, the noise is in the range (23),
    and it is (ε, δ)-private if and only if δ is at least its C e^(−γD²). *)
Theorem proposition_3 {A} D eps iota (HD : (1 <= D)%Z) (q : A -> bool) least r delta' :
  0 < eps -> - (2 * eps / (4 * IZR D ^ 2 - 1)) <= iota < 0 -> q r = true ->
  let gamma := eps / (2 * IZR D - 1) + iota in
  z_star gamma eps = (- D)%Z
  /\ delta D gamma eps = edge D gamma
  /\ (private (neighbours q least) (mechanism (noise D gamma HD) q) eps delta'
      <-> edge D gamma <= delta').
Proof.
  intros E [I1 I2] R gamma. assert (1 <= IZR D) by (apply IZR_le; lia).
  assert (L : eps / (2 * IZR D + 1) <= gamma).
  { replace (eps / (2 * IZR D + 1)) with (eps / (2 * IZR D - 1) - 2 * eps / (4 * IZR D ^ 2 - 1)).
    - unfold gamma. lra.
    - field. repeat split; nra. }
  assert (U : gamma < eps / (2 * IZR D - 1)) by (unfold gamma; lra).
  assert (0 < eps / (2 * IZR D + 1)) by (apply Rdiv_lt_0_compat; lra).
  assert (G : 0 < gamma) by lra.
  assert (Z : z_star gamma eps = (- D)%Z) by (apply range_of_gamma; auto).
  assert (P : delta D gamma eps = edge D gamma) by (apply proposition_2; auto; lia).
  split; [exact Z|]. split; [exact P|]. rewrite <- P. apply delta_is_the_least with r; auto.
Qed.

(** With the printed sign, γ = ε/(2D−1) − ι with ι < 0, the true δ always exceeds the stated one. *)
Theorem proposition_3_as_printed_fails D eps iota :
  (1 <= D)%Z -> 0 < eps -> iota < 0 ->
  let gamma := eps / (2 * IZR D - 1) - iota in edge D gamma < delta D gamma eps.
Proof.
  intros HD E I gamma. assert (1 <= IZR D) by (apply IZR_le; lia).
  assert (0 < eps / (2 * IZR D - 1)) by (apply Rdiv_lt_0_compat; lra).
  assert (G : 0 < gamma) by (unfold gamma; lra).
  assert (B := delta_lower_bound D gamma eps HD).
  rewrite p_in in B by lia. rewrite w_even in B. unfold edge.
  destruct (Req_dec (delta D gamma eps) (C D gamma * w gamma D)) as [Q|Q]; [|lra].
  exfalso. apply plateau in Q; auto. unfold gamma in Q.
  assert (eps / (2 * IZR D - 1) * (2 * IZR D - 1) = eps) by (field; lra). nra.
Qed.

(** ** The design guide *)

(** γ of a support, with a slack s between 0 and 1: Example 1 has s = 1/10. *)
Definition gamma_of (eps s : R) (D : Z) : R :=
  eps / (2 * IZR D - 1) - s * (2 * eps / (4 * IZR D ^ 2 - 1)).

(** δ_D(ε), eq. (32). *)
Definition delta_of (eps s : R) (D : Z) : R := edge D (gamma_of eps s D).

Lemma gamma_of_mean eps s D :
  (1 <= D)%Z -> gamma_of eps s D = (1 - s) * (eps / (2 * IZR D - 1)) + s * (eps / (2 * IZR D + 1)).
Proof.
  intros HD. assert (1 <= IZR D) by (apply IZR_le; lia). unfold gamma_of. field. repeat split; nra.
Qed.

Lemma gamma_of_pos eps s D : (1 <= D)%Z -> 0 < eps -> 0 <= s <= 1 -> 0 < gamma_of eps s D.
Proof.
  intros HD E B. assert (1 <= IZR D) by (apply IZR_le; lia). rewrite gamma_of_mean by assumption.
  assert (0 < eps / (2 * IZR D + 1)) by (apply Rdiv_lt_0_compat; lra).
  assert (eps / (2 * IZR D + 1) <= eps / (2 * IZR D - 1)); [|nra].
  apply Rmult_le_compat_l; [lra|]. apply Rinv_le_contravar; lra.
Qed.

(** It is the δ at ε of the noise with that γ. *)
Theorem delta_of_is_delta eps s D :
  (1 <= D)%Z -> 0 < eps -> 0 <= s <= 1 -> delta D (gamma_of eps s D) eps = delta_of eps s D.
Proof.
  intros HD E B. apply plateau; auto using gamma_of_pos.
  assert (1 <= IZR D) by (apply IZR_le; lia).
  unfold gamma_of. assert (0 <= 2 * eps / (4 * IZR D ^ 2 - 1)) by (apply Rlt_le, Rdiv_lt_0_compat; nra).
  assert (K : eps / (2 * IZR D - 1) * (2 * IZR D - 1) = eps) by (field; lra).
  rewrite Rmult_minus_distr_r, K. assert (0 <= s * (2 * eps / (4 * IZR D ^ 2 - 1)) * (2 * IZR D - 1)); [|lra].
  apply Rmult_le_pos; [apply Rmult_le_pos; lra|lra].
Qed.

Lemma quotient_le a b c d : 0 < b -> 0 < d -> a * d <= c * b -> a / b <= c / d.
Proof.
  intros B D H. apply Rmult_le_reg_r with (b * d); [nra|].
  replace (a / b * (b * d)) with (a * d) by (field; lra).
  replace (c / d * (b * d)) with (c * b) by (field; lra). exact H.
Qed.

Lemma quotient_lt a b c d : 0 < b -> 0 < d -> a * d < c * b -> a / b < c / d.
Proof.
  intros B D H. apply Rmult_lt_reg_r with (b * d); [nra|].
  replace (a / b * (b * d)) with (a * d) by (field; lra).
  replace (c / d * (b * d)) with (c * b) by (field; lra). exact H.
Qed.

(** δ_D(ε) falls strictly from D to D + 1. *)
Theorem delta_of_falls eps s D :
  (1 <= D)%Z -> 0 < eps -> 0 <= s <= 1 -> delta_of eps s (D + 1) < delta_of eps s D.
Proof.
  intros HD E B. assert (D1 : 1 <= IZR D) by (apply IZR_le; lia).
  set (g := gamma_of eps s D). set (h := gamma_of eps s (D + 1)).
  assert (G : h <= g).
  { unfold g, h. rewrite !gamma_of_mean by lia. rewrite plus_IZR.
    apply Rplus_le_compat; (apply Rmult_le_compat_l; [lra|]);
      apply Rmult_le_compat_l; try lra; apply Rinv_le_contravar; lra. }
  assert (Q : g * IZR D ^ 2 < h * IZR (D + 1) ^ 2).
  { unfold g, h. rewrite !gamma_of_mean by lia. rewrite plus_IZR. set (d := IZR D) in *.
    assert (A1 : eps / (2 * d - 1) * d ^ 2 < eps / (2 * (d + 1) - 1) * (d + 1) ^ 2).
    { replace (eps / (2 * d - 1) * d ^ 2) with ((eps * d ^ 2) / (2 * d - 1)) by (field; lra).
      replace (eps / (2 * (d + 1) - 1) * (d + 1) ^ 2) with ((eps * (d + 1) ^ 2) / (2 * (d + 1) - 1)) by (field; lra).
      apply quotient_lt; try lra.
      assert (0 < (d + 1) ^ 2 * (2 * d - 1) - d ^ 2 * (2 * (d + 1) - 1)) by nra. nra. }
    assert (A2 : eps / (2 * d + 1) * d ^ 2 < eps / (2 * (d + 1) + 1) * (d + 1) ^ 2).
    { replace (eps / (2 * d + 1) * d ^ 2) with ((eps * d ^ 2) / (2 * d + 1)) by (field; lra).
      replace (eps / (2 * (d + 1) + 1) * (d + 1) ^ 2) with ((eps * (d + 1) ^ 2) / (2 * (d + 1) + 1)) by (field; lra).
      apply quotient_lt; try lra.
      assert (0 < (d + 1) ^ 2 * (2 * d + 1) - d ^ 2 * (2 * (d + 1) + 1)) by nra. nra. }
    destruct (Req_dec s 0) as [->|]; nra. }
  unfold delta_of, edge. fold g h. rewrite !C_S by lia.
  assert (W : w h (D + 1) < w g D) by (apply exp_increasing; lra).
  assert (SS : S D g <= S (D + 1) h).
  { apply Rle_trans with (S D h).
    - apply sum_le. intros z _. apply w_falls, G.
    - unfold S. rewrite (sum_first (- (D + 1))) by lia. rewrite (sum_last _ (D + 1)) by lia.
      replace (- (D + 1) + 1)%Z with (- D)%Z by lia. replace (D + 1 - 1)%Z with D by lia.
      assert (X := w_pos h (- (D + 1))). assert (Y := w_pos h (D + 1)). lra. }
  assert (P1 := S_pos D g ltac:(lia)). assert (P2 := S_pos (D + 1) h ltac:(lia)).
  assert (I : / S (D + 1) h <= / S D g) by (apply Rinv_le_contravar; assumption).
  assert (0 < / S (D + 1) h) by (apply Rinv_0_lt_compat; assumption).
  assert (X := w_pos h (D + 1)). nra.
Qed.

Lemma delta_of_falls_far eps s D D' :
  (1 <= D < D')%Z -> 0 < eps -> 0 <= s <= 1 -> delta_of eps s D' < delta_of eps s D.
Proof.
  intros H E B. replace D' with (D + Z.of_nat (Datatypes.S (Z.to_nat (D' - D - 1))))%Z by lia.
  generalize (Z.to_nat (D' - D - 1)) as n. induction n as [|n IH].
  - apply delta_of_falls; auto; lia.
  - apply Rlt_trans with (2 := IH).
    replace (D + Z.of_nat (Datatypes.S (Datatypes.S n)))%Z with (D + Z.of_nat (Datatypes.S n) + 1)%Z by lia.
    apply delta_of_falls; auto; lia.
Qed.

(** A support is D* if it reaches δ and no smaller one does. *)
Definition is_D_star (eps s target : R) (D : Z) : Prop :=
  (1 <= D)%Z /\ delta_of eps s D <= target
  /\ forall D', (1 <= D' < D)%Z -> delta_of eps s D' > target.

(** D* is well defined: every δ > 0 has exactly one, all larger supports reach δ too, and it is
    enough to compare two neighbouring supports. *)
Theorem D_star_is_well_defined eps s target :
  0 < eps -> 0 <= s <= 1 -> 0 < target ->
  (exists! D, is_D_star eps s target D)
  /\ forall D, is_D_star eps s target D ->
     forall D', (1 <= D')%Z -> (delta_of eps s D' <= target <-> (D <= D')%Z).
Proof.
  intros E B T.
  assert (U : forall D, is_D_star eps s target D ->
     forall D', (1 <= D')%Z -> (delta_of eps s D' <= target <-> (D <= D')%Z)).
  { intros D (HD & L & M) D' HD'. split; intros H.
    - apply Z.nlt_ge. intros K. specialize (M D' ltac:(lia)). lra.
    - destruct (Z.eq_dec D D') as [<-|N]; [exact L|].
      assert (G := delta_of_falls_far eps s D D' ltac:(lia) E B). lra. }
  split; [|exact U].
  assert (X : exists n, delta_of eps s (Z.of_nat n + 1) <= target).
  { destruct (archimed (/ target)) as [A _]. exists (Z.to_nat (up (/ target))).
    assert (0 < / target) by (apply Rinv_0_lt_compat, T).
    assert (K : (0 < up (/ target))%Z) by (apply lt_IZR; lra). rewrite Z2Nat.id by lia.
    set (D := (up (/ target) + 1)%Z).
    assert (HD : (1 <= D)%Z) by (unfold D; lia).
    assert (Q := edge_below D (gamma_of eps s D) HD (Rlt_le _ _ (gamma_of_pos eps s D HD E B))).
    fold (delta_of eps s D) in Q. assert (/ target < IZR D) by (unfold D; rewrite plus_IZR; lra).
    assert (Y : target * / target = 1) by (field; lra).
    assert (P := edge_pos D (gamma_of eps s D) HD). fold (delta_of eps s D) in P.
    apply Rnot_lt_le. intros N. nra. }
  assert (Y : exists D, is_D_star eps s target D).
  { destruct X as [n X]. induction n as [n IH] using (well_founded_induction lt_wf).
    destruct n as [|n].
    - exists 1%Z. repeat split; [lia|exact X|]. intros; lia.
    - destruct (Rle_dec (delta_of eps s (Z.of_nat n + 1)) target) as [L|L].
      + apply (IH n); [lia|exact L].
      + exists (Z.of_nat (Datatypes.S n) + 1)%Z. repeat split; [lia|exact X|].
        intros D' H. destruct (Z.eq_dec D' (Z.of_nat n + 1)) as [->|N]; [lra|].
        assert (G := delta_of_falls_far eps s D' (Z.of_nat n + 1) ltac:(lia) E B). lra. }
  destruct Y as [D Y]. exists D. split; [exact Y|]. intros D' Y'.
  assert (A := proj1 (U D Y D' (proj1 Y')) (proj1 (proj2 Y'))).
  assert (A' := proj1 (U D' Y' D (proj1 Y)) (proj1 (proj2 Y))). lia.
Qed.
