(** Section III-B: the least δ of one count, with all cases of Proposition 2 and its ties. *)

From Coq Require Import Reals ZArith List Lra Lia Bool.
From TableBuilder Require Import Sums Privacy Mechanism Noise.
Import ListNotations.
Local Open Scope R_scope.

(** The largest integer that is not above x. *)
Definition floor (x : R) : Z := Int_part x.
(** The least integer that is not below x. *)
Definition ceil (x : R) : Z := (- floor (- x))%Z.

(** Eq. (13): z is in E* if p(z) exceeds e^ε p(z−1); a quotient by 0 is infinite, and 0/0 is 0. *)
Definition in_E_star D gamma eps z : Prop :=
  (- D <= z <= D + 1)%Z /\ p D gamma z > exp eps * p D gamma (z - 1).

(** Eq. (12): δ is the sum over E* of p(z) − e^ε p(z−1). *)
Definition delta D gamma eps : R :=
  Sum (- D <= z <= D + 1)
    (if Rlt_dec (exp eps * p D gamma (z - 1)) (p D gamma z)
     then p D gamma z - exp eps * p D gamma (z - 1) else 0).

(** What z is compared with: 0.5 − ε/(2γ). *)
Definition threshold gamma eps : R := 1 / 2 - eps / (2 * gamma).

(** z* = ⌊0.5 − ε/(2γ)⌋. *)
Definition z_star gamma eps : Z := floor (threshold gamma eps).

(** ** Floors *)

Lemma floor_spec x : IZR (floor x) <= x < IZR (floor x) + 1.
Proof. unfold floor. assert (H := base_Int_part x). lra. Qed.

Lemma floor_unique x z : IZR z <= x < IZR z + 1 -> floor x = z.
Proof.
  intros H. assert (G := floor_spec x).
  assert (IZR (floor x) < IZR (z + 1)) by (rewrite plus_IZR; lra).
  assert (IZR z < IZR (floor x + 1)) by (rewrite plus_IZR; lra).
  assert ((floor x < z + 1)%Z) by (apply lt_IZR; assumption).
  assert ((z < floor x + 1)%Z) by (apply lt_IZR; assumption). lia.
Qed.

Lemma le_floor x z : (z <= floor x)%Z <-> IZR z <= x.
Proof.
  assert (G := floor_spec x). split; intros H.
  - apply IZR_le in H. lra.
  - assert (IZR z < IZR (floor x + 1)) by (rewrite plus_IZR; lra).
    assert ((z < floor x + 1)%Z) by (apply lt_IZR; assumption). lia.
Qed.

Lemma ceil_spec x : x <= IZR (ceil x) < x + 1.
Proof. unfold ceil. assert (G := floor_spec (- x)). rewrite opp_IZR. lra. Qed.

Lemma ceil_le x z : (ceil x <= z)%Z <-> x <= IZR z.
Proof.
  unfold ceil. assert (G := le_floor (- x) (- z)). rewrite opp_IZR in G. destruct G as [G1 G2].
  split; intros H.
  - assert (- IZR z <= - x) by (apply G1; lia). lra.
  - assert (- z <= floor (- x))%Z by (apply G2; lra). lia.
Qed.

Lemma lt_ceil x z : (z < ceil x)%Z <-> IZR z < x.
Proof.
  destruct (ceil_le x z) as [G1 G2]. split; intros H.
  - apply Rnot_le_lt. intros K. apply G2 in K. lia.
  - apply Z.nle_gt. intros K. apply G1 in K. lra.
Qed.

(** ** Ratios *)

Section OneCount.
Variables (D : Z) (gamma eps : R).
Hypothesis HD : (1 <= D)%Z.
Hypothesis gamma_pos : 0 < gamma.
Hypothesis eps_pos : 0 < eps.

Lemma w_ratio z : w gamma z = exp (gamma * (1 - 2 * IZR z)) * w gamma (z - 1).
Proof. unfold w. rewrite <- exp_plus. f_equal. rewrite minus_IZR. ring. Qed.

(** The term of z is positive if and only if z < 0.5 − ε/(2γ). *)
Lemma ratio_above z :
  exp eps * w gamma (z - 1) < w gamma z <-> IZR z < threshold gamma eps.
Proof.
  rewrite (w_ratio z). assert (W := w_pos gamma (z - 1)).
  assert (T : IZR z < threshold gamma eps <-> eps < gamma * (1 - 2 * IZR z)).
  { unfold threshold. assert (K : eps = 2 * gamma * (eps / (2 * gamma))) by (field; lra).
    set (t := eps / (2 * gamma)) in *. split; intros; nra. }
  rewrite T. split; intros H.
  - apply exp_lt_inv. apply Rmult_lt_reg_r with (w gamma (z - 1)); assumption.
  - apply Rmult_lt_compat_r; [assumption|]. apply exp_increasing. assumption.
Qed.

(** At a tie the two sides are equal. *)
Lemma ratio_tie z : IZR z = threshold gamma eps -> w gamma z = exp eps * w gamma (z - 1).
Proof.
  intros T. rewrite (w_ratio z). do 2 f_equal. rewrite T. unfold threshold. field. lra.
Qed.

Lemma threshold_below_half : threshold gamma eps < 1 / 2.
Proof.
  unfold threshold. assert (0 < eps / (2 * gamma)) by (apply Rdiv_lt_0_compat; lra). lra.
Qed.

Lemma inside_above z : (- D < z <= D)%Z ->
  (exp eps * p D gamma (z - 1) < p D gamma z <-> IZR z < threshold gamma eps).
Proof.
  intros H. rewrite !p_in by lia. rewrite <- ratio_above.
  assert (G : 0 < C D gamma) by (apply C_pos; lia).
  split; intros L; nra.
Qed.

Lemma first_above : exp eps * p D gamma (- D - 1) < p D gamma (- D).
Proof. rewrite (p_out D gamma (- D - 1)) by lia. rewrite Rmult_0_r. apply p_pos. lia. Qed.

Lemma last_not_above : ~ exp eps * p D gamma (D + 1 - 1) < p D gamma (D + 1).
Proof.
  rewrite (p_out D gamma (D + 1)) by lia. replace (D + 1 - 1)%Z with D by lia.
  assert (0 < p D gamma D) by (apply p_pos; lia). assert (0 < exp eps) by apply exp_pos. nra.
Qed.

(** Eqs. (13) to (20) with their ties: E* is [−D, max(−D, ⌈0.5 − ε/(2γ)⌉ − 1)]. *)
Theorem E_star_is_an_interval z :
  in_E_star D gamma eps z
  <-> (- D <= z <= Z.max (- D) (ceil (threshold gamma eps) - 1))%Z.
Proof.
  unfold in_E_star. assert (T := threshold_below_half).
  assert (K : forall y, (y <= ceil (threshold gamma eps) - 1)%Z <-> IZR y < threshold gamma eps)
    by (intros y; rewrite <- lt_ceil; lia).
  assert (Z0 : forall y, IZR y < threshold gamma eps -> (y <= 0)%Z).
  { intros y L. assert (IZR y < IZR 1) by lra. apply lt_IZR in H. lia. }
  split.
  - intros [B G]. split; [lia|]. apply Z.max_le_iff.
    destruct (Z.eq_dec z (- D)) as [->|]; [left; lia|].
    destruct (Z.eq_dec z (D + 1)) as [->|]; [exfalso; apply last_not_above; exact G|].
    right. apply K, inside_above; [lia|exact G].
  - intros [B G]. apply Z.max_le_iff in G. destruct (Z.eq_dec z (- D)) as [->|].
    + split; [lia|apply first_above].
    + assert (L : IZR z < threshold gamma eps) by (apply K; lia).
      assert (N := Z0 z L). split; [lia|]. apply inside_above; [lia|exact L].
Qed.

(** Eq. (20) as printed, with z* for the upper end, fails just at the ties above −D. *)
Theorem E_star_as_printed :
  (forall z, in_E_star D gamma eps z <-> (- D <= z <= Z.max (- D) (z_star gamma eps))%Z)
  <-> ~ (IZR (z_star gamma eps) = threshold gamma eps /\ (- D < z_star gamma eps)%Z).
Proof.
  assert (F := floor_spec (threshold gamma eps)). fold (z_star gamma eps) in F.
  assert (Cs := ceil_spec (threshold gamma eps)).
  split.
  - intros H [T B]. assert (I : in_E_star D gamma eps (z_star gamma eps)) by (apply H; lia).
    apply E_star_is_an_interval in I.
    assert (L : (z_star gamma eps < ceil (threshold gamma eps))%Z) by lia. apply lt_ceil in L. lra.
  - intros N z. rewrite E_star_is_an_interval.
    destruct (Z_le_gt_dec (z_star gamma eps) (- D)) as [B|B].
    + assert (ceil (threshold gamma eps) <= - D + 1)%Z; [|lia].
      apply ceil_le. apply IZR_le in B. rewrite plus_IZR. lra.
    + assert (L : IZR (z_star gamma eps) < threshold gamma eps) by (apply Rnot_le_lt; intros Q; apply N; split; [lra|lia]).
      replace (ceil (threshold gamma eps) - 1)%Z with (z_star gamma eps); [reflexivity|].
      apply lt_ceil in L. assert (ceil (threshold gamma eps) <= z_star gamma eps + 1)%Z; [|lia].
      apply ceil_le. rewrite plus_IZR. lra.
Qed.

(** δ is the hockey-stick sum of n + Z against n + 1 + Z. *)
Theorem delta_is_the_hockey_stick_sum :
  delta D gamma eps = hockey (exp eps) (noise D gamma HD) (shifted 1 (noise D gamma HD)).
Proof.
  unfold hockey, delta. simpl. fold (sum (- D) D (fun y => positive (p D gamma y - exp eps * p D gamma (y - 1)))).
  rewrite (sum_last (- D) (D + 1)) by lia. replace (D + 1 - 1)%Z with D by lia.
  destruct (Rlt_dec (exp eps * p D gamma D) (p D gamma (D + 1))) as [L|_].
  - exfalso. apply last_not_above. replace (D + 1 - 1)%Z with D by lia. exact L.
  - rewrite Rplus_0_r. apply sum_ext. intros z _.
    destruct (Rlt_dec (exp eps * p D gamma (z - 1)) (p D gamma z)) as [L|L].
    + rewrite positive_pos; lra.
    + rewrite positive_neg; lra.
Qed.

(** Eq. (12) is the least δ: the mechanism is (ε, δ)-private if and only if δ is at least that. *)
Theorem delta_is_the_least {A} (q : A -> bool) least r delta' :
  q r = true ->
  private (neighbours q least) (mechanism (noise D gamma HD) q) eps delta'
  <-> delta D gamma eps <= delta'.
Proof.
  intros R. rewrite (private_is_both_directions _ q least eps delta' r) by (auto; lra).
  rewrite (one_direction_is_enough (noise D gamma HD) D);
    [|apply Rlt_le, exp_pos|reflexivity|apply symmetric].
  rewrite <- delta_is_the_hockey_stick_sum. tauto.
Qed.

(** δ as a sum up to any end between max E* and the first z whose term is negative. *)
Lemma delta_up_to m :
  (- D <= m <= D)%Z -> (forall z, (- D < z <= m)%Z -> IZR z <= threshold gamma eps) ->
  (forall z, (m < z <= D)%Z -> threshold gamma eps <= IZR z) ->
  delta D gamma eps = C D gamma * w gamma D
    + C D gamma * Sum (- D + 1 <= z <= m) (w gamma z - exp eps * w gamma (z - 1)).
Proof.
  intros M H1 H2. unfold delta. rewrite (sum_split _ m) by lia. rewrite (sum_zero (m + 1)).
  - rewrite Rplus_0_r. rewrite sum_first by lia. f_equal.
    + destruct (Rlt_dec _ _) as [L|L]; [|exfalso; apply L, first_above].
      rewrite (p_out D gamma (- D - 1)) by lia. rewrite p_in by lia. rewrite w_even. ring.
    + rewrite <- sum_scal. apply sum_ext. intros z B.
      destruct (Rlt_dec _ _) as [L|L].
      * rewrite !p_in by lia. ring.
      * assert (B' : (- D < z <= D)%Z) by lia. assert (E := inside_above z B').
        assert (H := H1 z ltac:(lia)). rewrite (ratio_tie z); [ring|].
        apply Rle_antisym; [exact H|]. apply Rnot_lt_le. intros Q. apply L, E, Q.
  - intros z B. destruct (Rlt_dec _ _) as [L|L]; [exfalso|reflexivity].
    destruct (Z.eq_dec z (D + 1)) as [->|]; [apply last_not_above, L|].
    apply inside_above in L; [|lia]. assert (H := H2 z ltac:(lia)). lra.
Qed.

(** Proposition 2, eq. (21): all of its cases, ties included. *)
Theorem proposition_2 :
  ((z_star gamma eps <= - D)%Z -> delta D gamma eps = C D gamma * w gamma D)
  /\ ((- D < z_star gamma eps)%Z ->
      delta D gamma eps = C D gamma * w gamma D
        + C D gamma * Sum (- D + 1 <= z <= z_star gamma eps) (w gamma z - exp eps * w gamma (z - 1)))
  /\ (z_star gamma eps <= 0)%Z.
Proof.
  assert (F := floor_spec (threshold gamma eps)). fold (z_star gamma eps) in F.
  assert (T := threshold_below_half).
  assert (N : (z_star gamma eps <= 0)%Z).
  { assert (L : IZR (z_star gamma eps) < IZR 1) by lra. apply lt_IZR in L. lia. }
  assert (U : forall z, (z_star gamma eps < z)%Z -> threshold gamma eps <= IZR z).
  { intros z B. assert (IZR (z_star gamma eps + 1) <= IZR z) by (apply IZR_le; lia).
    rewrite plus_IZR in H. lra. }
  repeat split; [| |exact N].
  - intros B. rewrite (delta_up_to (- D)).
    + rewrite sum_empty by lia. ring.
    + lia.
    + intros z Q. lia.
    + intros z Q. apply U. lia.
  - intros B. apply delta_up_to.
    + lia.
    + intros z Q. apply Rle_trans with (IZR (z_star gamma eps)); [apply IZR_le; lia|lra].
    + intros z Q. apply U. lia.
Qed.

(** Eq. (14): δ is at least p(−D). *)
Theorem delta_lower_bound : delta D gamma eps >= p D gamma (- D).
Proof.
  unfold delta. set (t := fun z => _). apply Rle_ge, Rle_trans with (t (- D)%Z).
  - unfold t. destruct (Rlt_dec _ _) as [L|L]; [|exfalso; apply L, first_above].
    rewrite (p_out D gamma (- D - 1)) by lia. lra.
  - apply sum_term; [lia|]. intros z _. unfold t. destruct (Rlt_dec _ _); lra.
Qed.

(** δ = p(−D) if and only if ε ≥ γ(2D − 1): where the plateau begins. *)
Theorem plateau : delta D gamma eps = C D gamma * w gamma D <-> gamma * (2 * IZR D - 1) <= eps.
Proof.
  assert (K : eps = 2 * gamma * (eps / (2 * gamma))) by (field; lra).
  assert (T : forall z, threshold gamma eps <= IZR z <-> gamma * (1 - 2 * IZR z) <= eps).
  { intros z. unfold threshold. set (t := eps / (2 * gamma)) in *. split; intros; nra. }
  split.
  - intros H. apply Rnot_lt_le. intros L.
    assert (G : IZR (- D + 1) < threshold gamma eps).
    { apply Rnot_le_lt. rewrite T, plus_IZR, opp_IZR. lra. }
    assert (E : delta D gamma eps > C D gamma * w gamma D); [|lra].
    assert (B : threshold gamma eps < 1 / 2) by apply threshold_below_half.
    assert (-D + 1 <= 0)%Z by (assert (Q : IZR (- D + 1) < IZR 1) by lra; apply lt_IZR in Q; lia).
    unfold delta. rewrite sum_first by lia.
    destruct (Rlt_dec _ _) as [J|J]; [|exfalso; apply J, first_above].
    rewrite (p_out D gamma (- D - 1)) by lia. rewrite p_in by lia. rewrite w_even.
    enough (0 < Sum (- D + 1 <= z <= D + 1)
      (if Rlt_dec (exp eps * p D gamma (z - 1)) (p D gamma z)
       then p D gamma z - exp eps * p D gamma (z - 1) else 0)) by lra.
    apply Rlt_le_trans with (if Rlt_dec (exp eps * p D gamma (- D + 1 - 1)) (p D gamma (- D + 1))
       then p D gamma (- D + 1) - exp eps * p D gamma (- D + 1 - 1) else 0).
    + destruct (Rlt_dec _ _) as [I|I]; [lra|]. exfalso. apply I, inside_above; [lia|exact G].
    + apply (sum_term _ _ (fun z => if Rlt_dec (exp eps * p D gamma (z - 1)) (p D gamma z)
       then p D gamma z - exp eps * p D gamma (z - 1) else 0)); [lia|].
      intros z _. destruct (Rlt_dec _ _); lra.
  - intros H. rewrite (delta_up_to (- D)).
    + rewrite sum_empty by lia. ring.
    + lia.
    + intros z B. lia.
    + intros z B. apply T. assert (IZR (- D + 1) <= IZR z) by (apply IZR_le; lia).
      rewrite plus_IZR, opp_IZR in H0. nra.
Qed.

(** δ falls strictly with ε until the plateau begins, and never rises. *)
Theorem delta_falls_with_epsilon eps' :
  eps < eps' ->
  delta D gamma eps' <= delta D gamma eps
  /\ (eps < gamma * (2 * IZR D - 1) -> delta D gamma eps' < delta D gamma eps).
Proof.
  intros L. apply exp_increasing in L.
  set (term := fun e z => if Rlt_dec (exp e * p D gamma (z - 1)) (p D gamma z)
     then p D gamma z - exp e * p D gamma (z - 1) else 0).
  assert (M : forall z, term eps' z <= term eps z).
  { intros z. assert (N := p_nonneg D gamma (z - 1)). unfold term.
    destruct (Rlt_dec (exp eps' * _) _), (Rlt_dec (exp eps * _) _); nra. }
  change (sum (- D) (D + 1) (term eps') <= sum (- D) (D + 1) (term eps)
    /\ (eps < gamma * (2 * IZR D - 1) -> sum (- D) (D + 1) (term eps') < sum (- D) (D + 1) (term eps))).
  split; [apply sum_le; auto|]. intros B. apply sum_lt with (- D + 1)%Z; auto; [lia|].
  assert (A : exp eps * p D gamma (- D + 1 - 1) < p D gamma (- D + 1)).
  { apply inside_above; [lia|]. unfold threshold.
    assert (K : eps = 2 * gamma * (eps / (2 * gamma))) by (field; lra).
    rewrite plus_IZR, opp_IZR. set (t := eps / (2 * gamma)) in *. nra. }
  assert (P : 0 < p D gamma (- D + 1 - 1)) by (apply p_pos; lia). unfold term.
  destruct (Rlt_dec (exp eps' * _) _), (Rlt_dec (exp eps * _) _); nra.
Qed.

End OneCount.
