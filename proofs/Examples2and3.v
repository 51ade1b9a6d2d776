(** Examples 2 and 3 in numbers: the lookup table of Example 1 with KEYSIZE 2^32. *)

From Coq Require Import Reals ZArith List Lra Lia Bool.
From Interval Require Import Tactic.
From TableBuilder Require Import Sums Privacy Mechanism Noise Proposition2 Design Example1 Sampling.
Import ListNotations.
Local Open Scope R_scope.

(** KEYSIZE = 2^32. *)
Definition keysize : Z := 4294967296.

Lemma keysize_pos : (1 <= keysize)%Z.
Proof. unfold keysize. lia. Qed.

Lemma c_sum D gamma z : (- D <= z <= D)%Z -> c D gamma z = C D gamma * Sum (- D <= y <= z) w gamma y.
Proof.
  intros H. unfold c. rewrite <- sum_scal. apply sum_ext. intros y B. apply p_in. lia.
Qed.

Ltac cut_point := unfold cut; rewrite c_sum by lia; apply ceil_unique; split; numbers; interval with (i_prec 90).

(** The printed cut points of eq. (41), and that of z = 24 in eq. (47). *)
Theorem example_2_cut_points :
  cut 25 gamma_25 keysize (-26) = 0%Z
  /\ cut 25 gamma_25 keysize (-25) = 425760%Z
  /\ cut 25 gamma_25 keysize (-24) = 1126343%Z
  /\ cut 25 gamma_25 keysize (-23) = 2255949%Z
  /\ cut 25 gamma_25 keysize 24 = 4294541537%Z
  /\ cut 25 gamma_25 keysize 25 = keysize.
Proof.
  repeat split; try cut_point.
  - unfold cut. rewrite c_below by lia. rewrite Rmult_0_l. apply ceil_IZR.
  - unfold cut. rewrite c_above by lia. rewrite Rmult_1_l. apply ceil_IZR.
Qed.

(** With KEYSIZE 2^8 the first three cut points are 1, so that −24 and −23 can never be had. *)
Theorem example_2_small_keysize :
  cut 25 gamma_25 256 (-25) = 1%Z /\ cut 25 gamma_25 256 (-24) = 1%Z /\ cut 25 gamma_25 256 (-23) = 1%Z.
Proof. repeat split; cut_point. Qed.

(** Eq. (47): the keys of −25, −24, −23 and 25, and that of 24. *)
Theorem example_3_keys :
  keys 25 gamma_25 keysize (-25) = 425760%Z
  /\ keys 25 gamma_25 keysize (-24) = (1126343 - 425760)%Z
  /\ keys 25 gamma_25 keysize (-23) = (2255949 - 1126343)%Z
  /\ keys 25 gamma_25 keysize 24 = 700583%Z
  /\ keys 25 gamma_25 keysize 25 = (keysize - 4294541537)%Z.
Proof.
  destruct example_2_cut_points as (A & B & C & H & E & F).
  assert (G : cut 25 gamma_25 keysize 23 = 4293840954%Z) by cut_point.
  unfold keys. simpl (-25 - 1)%Z. simpl (-24 - 1)%Z. simpl (-23 - 1)%Z. simpl (24 - 1)%Z. simpl (25 - 1)%Z.
  rewrite A, B, C, E, F, G, H. repeat split.
Qed.

Lemma ends : keys 25 gamma_25 keysize (-25) = 425760%Z /\ keys 25 gamma_25 keysize (-24) = 700583%Z
  /\ keys 25 gamma_25 keysize 24 = 700583%Z /\ keys 25 gamma_25 keysize 25 = 425759%Z.
Proof. destruct example_3_keys as (-> & -> & _ & -> & ->). repeat split. Qed.

Lemma apart x n : IZR n < x < IZR n + 1 -> IZR (ceil x) <> x.
Proof. intros H. rewrite (ceil_unique x (n + 1)); rewrite plus_IZR; lra. Qed.

Lemma no_ties_below z : (-25 <= z <= -1)%Z -> IZR (ceil (c 25 gamma_25 z * IZR keysize)) <> c 25 gamma_25 z * IZR keysize.
Proof.
  intros B. rewrite c_sum by lia.
  assert (I := proj2 (in_range (-25) (-1) z) B). cbv in I. repeat (destruct I as [<-|I]; [|]); [..|contradiction].
  - apply (apart _ 425759). numbers. split; interval with (i_prec 90).
  - apply (apart _ 1126342). numbers. split; interval with (i_prec 90).
  - apply (apart _ 2255948). numbers. split; interval with (i_prec 90).
  - apply (apart _ 4040652). numbers. split; interval with (i_prec 90).
  - apply (apart _ 6803624). numbers. split; interval with (i_prec 90).
  - apply (apart _ 10995019). numbers. split; interval with (i_prec 90).
  - apply (apart _ 17225366). numbers. split; interval with (i_prec 90).
  - apply (apart _ 26300178). numbers. split; interval with (i_prec 90).
  - apply (apart _ 39252109). numbers. split; interval with (i_prec 90).
  - apply (apart _ 57365637). numbers. split; interval with (i_prec 90).
  - apply (apart _ 82188003). numbers. split; interval with (i_prec 90).
  - apply (apart _ 115519506). numbers. split; interval with (i_prec 90).
  - apply (apart _ 159376438). numbers. split; interval with (i_prec 90).
  - apply (apart _ 215921304). numbers. split; interval with (i_prec 90).
  - apply (apart _ 287357731). numbers. split; interval with (i_prec 90).
  - apply (apart _ 375791447). numbers. split; interval with (i_prec 90).
  - apply (apart _ 483063756). numbers. split; interval with (i_prec 90).
  - apply (apart _ 610569277). numbers. split; interval with (i_prec 90).
  - apply (apart _ 759074577). numbers. split; interval with (i_prec 90).
  - apply (apart _ 928557725). numbers. split; interval with (i_prec 90).
  - apply (apart _ 1118089791). numbers. split; interval with (i_prec 90).
  - apply (apart _ 1325777346). numbers. split; interval with (i_prec 90).
  - apply (apart _ 1548779911). numbers. split; interval with (i_prec 90).
  - apply (apart _ 1783408455). numbers. split; interval with (i_prec 90).
  - apply (apart _ 2025301532). numbers. split; interval with (i_prec 90).
Qed.

Lemma no_ties_25 : no_ties 25 gamma_25 keysize.
Proof.
  intros z B. destruct (Z_lt_dec z 0) as [L|L]; [apply no_ties_below; lia|].
  assert (S := c_symmetric 25 gamma_25 ltac:(lia) (- z - 1) ltac:(lia)).
  replace (- (- z - 1) - 1)%Z with z in S by lia. rewrite S. clear S.
  assert (N := no_ties_below (- z - 1) ltac:(lia)).
  set (x := c 25 gamma_25 (- z - 1)) in *.
  replace ((1 - x) * IZR keysize) with (IZR keysize - x * IZR keysize) by ring.
  rewrite ceil_minus, minus_IZR. intros E. apply N. replace (x * IZR keysize) with (IZR (floor (x * IZR keysize))) by lra.
  f_equal. apply ceil_IZR.
Qed.

(** Example 3's bias is −25/2^32 ≈ −5.820766091346741×10⁻⁹. *)
Theorem example_3_bias :
  Sum (-25 <= z <= 25) (IZR z * (IZR (keys 25 gamma_25 keysize z) / IZR keysize)) = - 25 / IZR keysize
  /\ prints (- 25 / IZR keysize) (-0.000000005820766091346741) 0.000000000000000000000001.
Proof.
  split; [|numbers; interval with (i_prec 90)].
  apply (bias 25 gamma_25 keysize); [lia|exact keysize_pos|exact no_ties_25].
Qed.

(** e^(47γ) is the largest ratio of neighbouring masses but for the two ends. *)
Lemma inner_ratio z :
  (-23 <= z <= 25)%Z -> p 25 gamma_25 z <= exp (47 * gamma_25) * p 25 gamma_25 (z - 1).
Proof.
  intros B. rewrite !p_in by lia. rewrite (w_ratio gamma_25 z).
  assert (Cp := C_pos 25 gamma_25 ltac:(lia)). assert (W := w_pos gamma_25 (z - 1)).
  assert (G : 0 < gamma_25) by (apply gamma_of_pos; [lia|lra|lra]).
  assert (L : IZR (-23) <= IZR z) by (apply IZR_le; lia).
  assert (E : exp (gamma_25 * (1 - 2 * IZR z)) <= exp (47 * gamma_25)).
  { destruct (Req_dec (gamma_25 * (1 - 2 * IZR z)) (47 * gamma_25)) as [->|N]; [lra|].
    apply Rlt_le, exp_increasing. nra. }
  assert (0 < C 25 gamma_25 * w gamma_25 (z - 1)) by (apply Rmult_lt_0_compat; assumption). nra.
Qed.

Lemma ratio_of_keys x y r : (* masses times KEYSIZE and their keys *)
  forall kx ky : Z, Rabs (IZR kx - x) < 1 -> Rabs (IZR ky - y) < 1 -> x <= r * y -> r < 1.63 -> 700000 <= y ->
  IZR kx * 425760 <= 700583 * IZR ky /\ IZR kx * 425759 <= 700583 * IZR ky.
Proof.
  intros kx ky Hx Hy H R Y. apply Rabs_def2 in Hx, Hy. split; nra.
Qed.

Lemma inner_keys z :
  (-24 <= z <= 24)%Z -> 700000 <= IZR keysize * p 25 gamma_25 z.
Proof.
  intros B. apply Rle_trans with (IZR keysize * p 25 gamma_25 24).
  - numbers. interval with (i_prec 60).
  - apply Rmult_le_compat_l; [apply IZR_le; unfold keysize; lia|]. rewrite !p_in by lia.
    apply Rmult_le_compat_l; [apply Rlt_le, C_pos; lia|]. unfold w.
    assert (IZR z ^ 2 <= IZR 24 ^ 2) by (apply squares_le; lia).
    assert (G : 0 < gamma_25) by (apply gamma_of_pos; [lia|lra|lra]).
    destruct (Req_dec (- gamma_25 * IZR 24 ^ 2) (- gamma_25 * IZR z ^ 2)) as [->|N]; [lra|].
    apply Rlt_le, exp_increasing. nra.
Qed.

Lemma ratio_small : exp (47 * gamma_25) < 1.63.
Proof. numbers. interval with (i_prec 60). Qed.

Lemma rises z : (-25 < z <= 25)%Z ->
  IZR (keys 25 gamma_25 keysize z) * 425760 <= 700583 * IZR (keys 25 gamma_25 keysize (z - 1)).
Proof.
  intros B. destruct (Z.eq_dec z (-24)) as [->|N].
  - simpl (-24 - 1)%Z. destruct ends as (-> & -> & _). lra.
  - apply (ratio_of_keys (IZR keysize * p 25 gamma_25 z) (IZR keysize * p 25 gamma_25 (z - 1)) (exp (47 * gamma_25))).
    + apply less_than_one_key; lia.
    + apply less_than_one_key; lia.
    + assert (H := inner_ratio z ltac:(lia)). assert (0 <= IZR keysize) by (apply IZR_le; unfold keysize; lia). nra.
    + exact ratio_small.
    + apply inner_keys. lia.
Qed.

Lemma falls z : (-25 < z <= 25)%Z ->
  IZR (keys 25 gamma_25 keysize (z - 1)) * 425759 <= 700583 * IZR (keys 25 gamma_25 keysize z).
Proof.
  intros B. destruct (Z.eq_dec z 25) as [->|N].
  - simpl (25 - 1)%Z. destruct ends as (_ & _ & -> & ->). lra.
  - apply (ratio_of_keys (IZR keysize * p 25 gamma_25 (z - 1)) (IZR keysize * p 25 gamma_25 z) (exp (47 * gamma_25))).
    + apply less_than_one_key; lia.
    + apply less_than_one_key; lia.
    + assert (H := inner_ratio (1 - z) ltac:(lia)). assert (0 <= IZR keysize) by (apply IZR_le; unfold keysize; lia).
      replace (1 - z - 1)%Z with (- z)%Z in H by lia. rewrite symmetric in H.
      replace (1 - z)%Z with (- (z - 1))%Z in H by lia. rewrite symmetric in H. nra.
    + exact ratio_small.
    + apply inner_keys. lia.
Qed.

Lemma exp_above a b eps : 0 < a -> 0 < b -> (a <= exp eps * b <-> ln (a / b) <= eps).
Proof.
  intros A B. assert (Q : 0 < a / b) by (apply Rdiv_lt_0_compat; assumption).
  assert (K : a = a / b * b) by (field; lra). split; intros H.
  - rewrite <- (ln_exp eps). destruct (Req_dec (a / b) (exp eps)) as [->|N]; [lra|].
    apply Rlt_le, ln_increasing; [assumption|]. nra.
  - assert (a / b <= exp eps); [|nra]. rewrite <- (exp_ln (a / b)) by assumption.
    destruct (Req_dec (ln (a / b)) eps) as [->|N]; [lra|]. apply Rlt_le, exp_increasing. lra.
Qed.

(** Eq. (45): ε^Q of Example 3 is ln(700583/425760) ≈ 0.498037038323823, the least ε for which no ratio
    p^Q(z)/p^Q(z−1) exceeds e^ε. *)
Theorem example_3_epsilon eps :
  ((forall z, (-25 < z <= 25)%Z ->
      IZR (keys 25 gamma_25 keysize z) <= exp eps * IZR (keys 25 gamma_25 keysize (z - 1)))
   <-> ln (700583 / 425760) <= eps)
  /\ prints (ln (700583 / 425760)) 0.498037038323823 0.000000000000001.
Proof.
  split; [|unfold prints; interval with (i_prec 80)]. split.
  - intros H. specialize (H (-24)%Z ltac:(lia)). simpl (-24 - 1)%Z in H.
    destruct ends as (E1 & E2 & _). rewrite E1, E2 in H. apply exp_above; [lra|lra|exact H].
  - intros H z B. apply exp_above in H; [|lra|lra]. assert (R := rises z B).
    assert (X := keys_nonneg 25 gamma_25 keysize keysize_pos (z - 1)). apply IZR_le in X. nra.
Qed.

(** In both directions it is ln(700583/425759) ≈ 0.498039387067656. *)
Theorem example_3_two_sided eps :
  ((forall z, (-25 < z <= 25)%Z ->
      IZR (keys 25 gamma_25 keysize z) <= exp eps * IZR (keys 25 gamma_25 keysize (z - 1))
      /\ IZR (keys 25 gamma_25 keysize (z - 1)) <= exp eps * IZR (keys 25 gamma_25 keysize z))
   <-> ln (700583 / 425759) <= eps)
  /\ prints (ln (700583 / 425759)) 0.498039387067656 0.000000000000001.
Proof.
  split; [|unfold prints; interval with (i_prec 80)]. split.
  - intros H. destruct (H 25%Z ltac:(lia)) as [_ G]. simpl (25 - 1)%Z in G.
    destruct ends as (_ & _ & E3 & E4). rewrite E3, E4 in G. apply exp_above; [lra|lra|exact G].
  - intros H z B. apply exp_above in H; [|lra|lra]. assert (R := rises z B). assert (F := falls z B).
    assert (X := keys_nonneg 25 gamma_25 keysize keysize_pos (z - 1)). apply IZR_le in X.
    assert (Y := keys_nonneg 25 gamma_25 keysize keysize_pos z). apply IZR_le in Y. split; nra.
Qed.

(** The noise of Example 3's lookup table. *)
Definition table_noise (HD : (1 <= 25)%Z) : pmf Z := sampled 25 gamma_25 keysize HD keysize_pos.

(** Eqs. (45) and (46) are no guarantee: Example 3's own table is not (ε^Q, δ^Q)-private. *)
Theorem example_3_is_not_private {A} (HD : (1 <= 25)%Z) (q : A -> bool) least r :
  q r = true ->
  ~ private (neighbours q least) (mechanism (table_noise HD) q) (ln (700583 / 425760)) (425760 / IZR keysize).
Proof.
  intros R. rewrite (private_is_both_directions _ q least _ _ r);
    [|rewrite <- ln_1; apply Rlt_le, ln_increasing; lra|exact R].
  intros [_ H]. apply Rle_not_lt in H. apply H. clear H. rewrite exp_ln by lra.
  assert (Kp : 0 < IZR keysize) by (apply IZR_lt; unfold keysize; lia).
  assert (X : forall a b, a < b -> a / IZR keysize < b / IZR keysize)
    by (intros; apply Rmult_lt_compat_r; [apply Rinv_0_lt_compat; lra|lra]).
  rewrite hockey_back. destruct ends as (_ & _ & E3 & E4).
  set (f := fun z => positive (IZR (keys 25 gamma_25 keysize z) / IZR keysize
     - 700583 / 425760 * (IZR (keys 25 gamma_25 keysize (z + 1)) / IZR keysize))).
  change (425760 / IZR keysize < sum (- (25)) 25 f).
  rewrite (sum_split (- (25)) 23 25) by lia. rewrite (sum_first (23 + 1)), (sum_one 25) by lia.
  assert (N : 0 <= sum (- (25)) 23 f) by (apply sum_nonneg; intros; apply positive_nonneg).
  unfold f at 2 3. change (23 + 1)%Z with 24%Z. change (24 + 1)%Z with 25%Z.
  rewrite E3, E4, (keys_out 25 gamma_25 keysize ltac:(lia) (25 + 1)) by lia.
  assert (P1 := positive_ge (700583 / IZR keysize - 700583 / 425760 * (425759 / IZR keysize))).
  assert (P2 := positive_ge (425759 / IZR keysize - 700583 / 425760 * (0 / IZR keysize))).
  assert (L : 425760 / IZR keysize < (700583 - 700583 / 425760 * 425759 + 425759) / IZR keysize) by (apply X; lra).
  unfold Rdiv in *. lra.
Qed.

(** The pair of both directions is a guarantee, and δ^Q ≈ 9.9129974842×10⁻⁵ is the least δ there. *)
Theorem example_3_is_private_both_ways {A} (HD : (1 <= 25)%Z) (q : A -> bool) least r delta' :
  q r = true ->
  (private (neighbours q least) (mechanism (table_noise HD) q) (ln (700583 / 425759)) delta'
   <-> 425760 / IZR keysize <= delta')
  /\ prints (425760 / IZR keysize) 0.000099129974842 0.000000000000001.
Proof.
  intros R. split; [|numbers; interval with (i_prec 80)].
  assert (Kp : 0 < IZR keysize) by (apply IZR_lt; unfold keysize; lia).
  assert (I : 0 < / IZR keysize) by (apply Rinv_0_lt_compat; lra).
  rewrite (two_sided_pair (table_noise HD) 25 ltac:(lia) eq_refl q least r).
  - destruct ends as (E1 & _ & _ & E4).
    replace (Rmax (table_noise HD (- (25))%Z) (table_noise HD 25%Z)) with (425760 / IZR keysize); [reflexivity|].
    symmetry. simpl. rewrite E1, E4. apply Rmax_left. unfold Rdiv. apply Rmult_le_compat_r; lra.
  - rewrite <- ln_1. apply Rlt_le, ln_increasing; lra.
  - exact R.
  - intros z B. simpl. destruct (proj1 (example_3_two_sided (ln (700583 / 425759)))) as [_ G].
    destruct (G ltac:(lra) z B) as [G1 G2]. unfold Rdiv in *. split; nra.
Qed.
