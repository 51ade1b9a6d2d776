(** Section III-A: the variance falls as γ grows, Proposition 1, and the largest entropy. *)

From Coq Require Import Reals ZArith List Lra Lia Bool.
From Coquelicot Require Import Coquelicot.
From TableBuilder Require Import Sums Privacy Mechanism Noise Proposition2 Design.
Import ListNotations.
Local Open Scope R_scope.

(** ** The derivative *)

Lemma total_derive {T} (l : list T) (f : R -> T -> R) (f' : T -> R) x :
  (forall y, In y l -> is_derive (fun g => f g y) x (f' y)) ->
  is_derive (fun g => total l (f g)) x (total l f').
Proof.
  induction l as [|y l IH]; simpl; intros H.
  - apply (is_derive_const 0 x).
  - apply (is_derive_plus (fun g => f g y) (fun g => total l (f g)) x (f' y) (total l f')); auto.
Qed.

(** The sum of z^k e^(−γz²) over all z. *)
Definition moment (D : Z) (k : nat) (gamma : R) : R := Sum (- D <= z <= D) (IZR z ^ k * w gamma z).

Lemma moment_derive D k gamma : is_derive (moment D k) gamma (- moment D (k + 2) gamma).
Proof.
  replace (- moment D (k + 2) gamma) with (Sum (- D <= z <= D) (- (IZR z ^ (k + 2) * w gamma z))).
  - unfold moment, sum. apply (total_derive _ (fun g z => IZR z ^ k * w g z)). intros z _. unfold w.
    assert (E : forall a b, is_derive (fun g => a * exp (- g * b)) gamma (- (a * b * exp (- gamma * b)))).
    { intros a b. auto_derive; [exact I|]. ring. }
    rewrite pow_add. apply E.
  - unfold moment. rewrite (sum_ext _ _ _ (fun z => (-1) * (IZR z ^ (k + 2) * w gamma z))) by (intros; ring).
    rewrite sum_scal. ring.
Qed.

Lemma moment_0 D gamma : moment D 0 gamma = S D gamma.
Proof. apply sum_ext. intros z _. simpl. ring. Qed.

Lemma V_moment D gamma : (0 <= D)%Z -> V D gamma = moment D 2 gamma / moment D 0 gamma.
Proof.
  intros H. rewrite moment_0. unfold V, moment.
  rewrite (sum_ext _ _ _ (fun z => / S D gamma * (IZR z ^ 2 * w gamma z))).
  - rewrite sum_scal. unfold Rdiv. ring.
  - intros z B. rewrite p_in by assumption. rewrite C_S by assumption. ring.
Qed.

(** Var(Z²) = Σ (z² − V)² p(z). *)
Definition variance_of_square (D : Z) (gamma : R) : R :=
  Sum (- D <= z <= D) ((IZR z ^ 2 - V D gamma) ^ 2 * p D gamma z).

Lemma variance_of_square_pos D gamma : (1 <= D)%Z -> 0 < variance_of_square D gamma.
Proof.
  intros HD.
  assert (N : forall z, (- D <= z <= D)%Z -> 0 <= (IZR z ^ 2 - V D gamma) ^ 2 * p D gamma z).
  { intros z _. apply Rmult_le_pos; [apply pow2_ge_0|apply p_nonneg]. }
  set (f := fun z => (IZR z ^ 2 - V D gamma) ^ 2 * p D gamma z) in *.
  destruct (Req_dec (V D gamma) 0) as [E|E].
  - apply Rlt_le_trans with (f 1%Z); [|apply sum_term; [lia|exact N]].
    unfold f. rewrite E. assert (0 < p D gamma 1) by (apply p_pos; lia). nra.
  - apply Rlt_le_trans with (f 0%Z); [|apply sum_term; [lia|exact N]].
    unfold f. assert (0 < p D gamma 0) by (apply p_pos; lia).
    assert (0 < (IZR 0 ^ 2 - V D gamma) ^ 2); [|nra].
    replace ((IZR 0 ^ 2 - V D gamma) ^ 2) with (Rsqr (V D gamma)) by (unfold Rsqr; ring).
    apply Rsqr_pos_lt, E.
Qed.

Lemma variance_of_square_moments D gamma :
  (0 <= D)%Z -> variance_of_square D gamma
  = moment D 4 gamma / moment D 0 gamma - (moment D 2 gamma / moment D 0 gamma) ^ 2.
Proof.
  intros H. assert (P := S_pos D gamma H). unfold variance_of_square.
  rewrite (sum_ext _ _ _ (fun z => / S D gamma * (IZR z ^ 4 * w gamma z)
    + ((- (2 * V D gamma) / S D gamma) * (IZR z ^ 2 * w gamma z) + V D gamma ^ 2 * p D gamma z))).
  - rewrite !sum_plus, !sum_scal. change (fun z => p D gamma z) with (p D gamma).
    assert (A := adds_up_to_1 D gamma H). change (fun z => p D gamma z) with (p D gamma) in A. rewrite A.
    fold (moment D 4 gamma) (moment D 2 gamma). rewrite moment_0, (V_moment D gamma H), moment_0. field. lra.
  - intros z B. rewrite p_in by assumption. rewrite C_S by assumption. field. lra.
Qed.

(** The derivative of the variance: dV/dγ = −Var(Z²) < 0. *)
Theorem derivative_of_variance D gamma :
  (1 <= D)%Z -> is_derive (V D) gamma (- variance_of_square D gamma) /\ 0 < variance_of_square D gamma.
Proof.
  intros HD. split; [|apply variance_of_square_pos, HD].
  apply (is_derive_ext (fun g => moment D 2 g / moment D 0 g)); [intros g; symmetry; apply V_moment; lia|].
  assert (P : moment D 0 gamma <> 0) by (rewrite moment_0; apply Rgt_not_eq, S_pos; lia).
  assert (Q := is_derive_div (moment D 2) (moment D 0) gamma _ _ (moment_derive D 2 gamma) (moment_derive D 0 gamma) P).
  simpl (2 + 2)%nat in Q. simpl (0 + 2)%nat in Q.
  rewrite variance_of_square_moments by lia.
  replace (- (moment D 4 gamma / moment D 0 gamma - (moment D 2 gamma / moment D 0 gamma) ^ 2))
    with ((- moment D 4 gamma * moment D 0 gamma - moment D 2 gamma * - moment D 2 gamma) / moment D 0 gamma ^ 2); [exact Q|].
  field. exact P.
Qed.

Lemma V_continuous D : (1 <= D)%Z -> forall gamma, continuity_pt (V D) gamma.
Proof.
  intros HD gamma. apply continuity_pt_filterlim, (@ex_derive_continuous R_AbsRing R_NormedModule).
  eexists. apply (derivative_of_variance D gamma HD).
Qed.

(** V falls strictly as γ grows, over all reals. *)
Theorem variance_falls D gamma gamma' : (1 <= D)%Z -> gamma < gamma' -> V D gamma' < V D gamma.
Proof.
  intros HD H.
  destruct (MVT_gen (V D) gamma gamma' (fun g => - variance_of_square D g)) as (g & _ & E).
  - intros x _. apply (derivative_of_variance D x HD).
  - intros x _. apply V_continuous, HD.
  - assert (Q := variance_of_square_pos D g HD). nra.
Qed.

(** ** Proposition 1 *)

Lemma sum_squares D : (0 <= D)%Z -> Sum (1 <= z <= D) (IZR z ^ 2) = IZR D * (IZR D + 1) * (2 * IZR D + 1) / 6.
Proof.
  intros H. rewrite <- (Z2Nat.id D) by assumption. generalize (Z.to_nat D) as n. clear H.
  induction n as [|n IH]; [rewrite sum_empty by lia; simpl; lra|].
  rewrite sum_last by lia. replace (Z.of_nat (Datatypes.S n) - 1)%Z with (Z.of_nat n) by lia.
  rewrite IH. rewrite Nat2Z.inj_succ. unfold Z.succ. rewrite plus_IZR. field.
Qed.

Lemma sum_constant D x : (0 <= D)%Z -> Sum (1 <= z <= D) x = IZR D * x.
Proof.
  intros H. rewrite <- (Z2Nat.id D) by assumption. generalize (Z.to_nat D) as n. clear H.
  induction n as [|n IH]; [rewrite sum_empty by lia; simpl; lra|].
  rewrite sum_last by lia. replace (Z.of_nat (Datatypes.S n) - 1)%Z with (Z.of_nat n) by lia.
  rewrite IH. rewrite Nat2Z.inj_succ. unfold Z.succ. rewrite plus_IZR. ring.
Qed.

Lemma w_uniform z : w 0 z = 1.
Proof. unfold w. rewrite <- exp_0. f_equal. ring. Qed.

(** At γ = 0 the noise is uniform, with the variance D(D+1)/3. *)
Theorem uniform D : (1 <= D)%Z ->
  V D 0 = IZR D * (IZR D + 1) / 3 /\ forall z, (- D <= z <= D)%Z -> p D 0 z = 1 / (2 * IZR D + 1).
Proof.
  intros HD. assert (1 <= IZR D) by (apply IZR_le; lia).
  assert (Cv : C D 0 = 1 / (2 * IZR D + 1)).
  { unfold C. rewrite (sum_ext _ _ _ (fun _ => 1)) by (intros; apply w_uniform).
    rewrite sum_constant by lia. f_equal. ring. }
  split.
  - rewrite variance_half by lia.
    rewrite (sum_ext _ _ _ (fun z => IZR z ^ 2)) by (intros; rewrite w_uniform; ring).
    rewrite sum_squares by lia. rewrite Cv. field. lra.
  - intros z B. rewrite p_in by assumption. rewrite w_uniform, Cv. ring.
Qed.

Lemma V_pos D gamma : (1 <= D)%Z -> 0 < V D gamma.
Proof.
  intros HD. unfold V.
  apply Rlt_le_trans with (IZR 1 ^ 2 * p D gamma 1).
  - assert (0 < p D gamma 1) by (apply p_pos; lia). simpl. lra.
  - apply (sum_term _ _ (fun z => IZR z ^ 2 * p D gamma z)); [lia|].
    intros z _. apply Rmult_le_pos; [apply pow2_ge_0|apply p_nonneg].
Qed.

(** The pmf decreases in |z|. *)
Definition decreasing (D : Z) (gamma : R) : Prop :=
  forall z z', (- D <= z <= D)%Z -> (- D <= z' <= D)%Z -> (Z.abs z < Z.abs z')%Z ->
  p D gamma z' < p D gamma z.

(** The pmf decreases in |z| if and only if γ > 0. *)
Theorem decreasing_iff D gamma : (1 <= D)%Z -> decreasing D gamma <-> 0 < gamma.
Proof.
  intros HD. assert (Cp := C_pos D gamma ltac:(lia)). split.
  - intros H. specialize (H 0%Z 1%Z ltac:(lia) ltac:(lia) ltac:(simpl; lia)).
    rewrite !p_in in H by lia. apply Rmult_lt_reg_l in H; [|exact Cp]. apply exp_lt_inv in H.
    simpl in H. lra.
  - intros G z z' B B' L. rewrite !p_in by lia. apply Rmult_lt_compat_l; [exact Cp|].
    apply exp_increasing.
    assert (IZR z ^ 2 < IZR z' ^ 2); [|nra].
    rewrite <- (pow2_abs (IZR z)), <- (pow2_abs (IZR z')), <- !abs_IZR.
    assert (0 <= IZR (Z.abs z)) by (apply IZR_le; lia).
    assert (IZR (Z.abs z) < IZR (Z.abs z')) by (apply IZR_lt; lia). nra.
Qed.

(** Proposition 1 in both directions: the pmf decreases in |z| if and only if 0 < V < D(D+1)/3. *)
Theorem proposition_1 D gamma :
  (1 <= D)%Z -> decreasing D gamma <-> 0 < V D gamma < IZR D * (IZR D + 1) / 3.
Proof.
  intros HD. rewrite decreasing_iff by assumption. rewrite <- (proj1 (uniform D HD)). split.
  - intros G. split; [apply V_pos, HD|apply variance_falls; assumption].
  - intros [_ H]. apply Rnot_le_lt. intros [L|E].
    + assert (Q := variance_falls D gamma 0 HD L). lra.
    + subst gamma. lra.
Qed.

Lemma V_small D gamma : (1 <= D)%Z -> 0 < gamma -> V D gamma < 2 * IZR D ^ 3 / gamma.
Proof.
  intros HD G. assert (D1 : 1 <= IZR D) by (apply IZR_le; lia). rewrite variance_half by lia.
  assert (C1 : C D gamma <= 1).
  { rewrite C_S by lia. rewrite <- Rinv_1. apply Rinv_le_contravar; [lra|]. rewrite S_half by lia.
    assert (0 <= Sum (1 <= z <= D) w gamma z) by (apply sum_nonneg; intros; apply Rlt_le, w_pos). lra. }
  assert (W : Sum (1 <= z <= D) (IZR z ^ 2 * w gamma z) <= IZR D * (IZR D ^ 2 * exp (- gamma))).
  { rewrite <- sum_constant by lia. apply sum_le. intros z B.
    apply Rmult_le_compat; [apply pow2_ge_0|apply Rlt_le, w_pos|apply squares_le; lia|].
    unfold w. assert (1 <= IZR z ^ 2) by (assert (1 <= IZR z) by (apply IZR_le; lia); nra).
    destruct (Req_dec (- gamma * IZR z ^ 2) (- gamma)) as [->|N]; [lra|].
    apply Rlt_le, exp_increasing. nra. }
  assert (X : exp (- gamma) < / gamma).
  { rewrite exp_Ropp. apply Rinv_lt_contravar; [apply Rmult_lt_0_compat; [lra|apply exp_pos]|].
    assert (Y := exp_ineq1 gamma ltac:(lra)). lra. }
  assert (N : 0 <= Sum (1 <= z <= D) (IZR z ^ 2 * w gamma z)).
  { apply sum_nonneg. intros z _. apply Rmult_le_pos; [apply pow2_ge_0|apply Rlt_le, w_pos]. }
  assert (Cp := C_pos D gamma ltac:(lia)).
  apply Rle_lt_trans with (2 * (IZR D * (IZR D ^ 2 * exp (- gamma)))).
  - rewrite Rmult_assoc. apply Rmult_le_compat_l; [lra|]. nra.
  - replace (2 * IZR D ^ 3 / gamma) with (2 * (IZR D * (IZR D ^ 2 * / gamma))) by (field; lra).
    assert (0 < IZR D ^ 2) by nra. apply Rmult_lt_compat_l; [lra|]. apply Rmult_lt_compat_l; [lra|].
    apply Rmult_lt_compat_l; assumption.
Qed.

(** Every variance of Proposition 1 belongs to exactly one γ > 0. *)
Theorem one_gamma_per_variance D v :
  (1 <= D)%Z -> 0 < v < IZR D * (IZR D + 1) / 3 -> exists! gamma, 0 < gamma /\ V D gamma = v.
Proof.
  intros HD [P B]. rewrite <- (proj1 (uniform D HD)) in B.
  set (g := 2 * IZR D ^ 3 / v). assert (D1 : 1 <= IZR D) by (apply IZR_le; lia).
  assert (G : 0 < g).
  { apply Rdiv_lt_0_compat; [|assumption]. apply Rmult_lt_0_compat; [lra|]. apply pow_lt. lra. }
  assert (L := V_small D g HD G).
  assert (E : 2 * IZR D ^ 3 / g = v).
  { unfold g. field. split; [|apply Rgt_not_eq; lra]. apply Rgt_not_eq. apply Rlt_gt. lra. }
  rewrite E in L.
  destruct (IVT_gen (V D) 0 g v) as (x & [X1 X2] & X).
  - intros y. apply V_continuous, HD.
  - rewrite Rmin_right, Rmax_left by lra. lra.
  - rewrite Rmin_left in X1 by lra. exists x. split.
    + split; [|exact X]. destruct X1 as [X1| <-]; [exact X1|lra].
    + intros y [_ Y]. destruct (Rtotal_order x y) as [T|[T|T]]; [|exact T|].
      * assert (Q := variance_falls D x y HD T). lra.
      * assert (Q := variance_falls D y x HD T). lra.
Qed.

(** ** The largest entropy *)

(** The entropy Σ q(z) log(1/q(z)), with 0 log(1/0) = 0. *)
Definition entropy (D : Z) (q : Z -> R) : R := Sum (- D <= z <= D) (- (q z * ln (q z))).

Lemma gibbs q p : 0 <= q -> 0 < p -> - (q * ln q) <= - (q * ln p) + (p - q)
  /\ (- (q * ln q) = - (q * ln p) + (p - q) -> q = p).
Proof.
  intros [Q| <-] P.
  - destruct (Req_dec q p) as [->|N]; [split; lra|].
    assert (L : ln (p / q) < p / q - 1).
    { assert (R : 0 < p / q) by (apply Rdiv_lt_0_compat; assumption).
      assert (ln (p / q) <> 0).
      { intros Z. apply N. rewrite <- ln_1 in Z. apply ln_inv in Z; [|assumption|lra].
        assert (p = p / q * q) by (field; lra). rewrite Z in H. lra. }
      assert (X := exp_ineq1 (ln (p / q)) H). rewrite exp_ln in X by assumption. lra. }
    unfold Rdiv in L. rewrite ln_mult, ln_Rinv in L by (try apply Rinv_0_lt_compat; assumption).
    apply Rmult_lt_compat_l with (r := q) in L; [|assumption].
    replace (q * (p * / q - 1)) with (p - q) in L by (field; lra). split; nra.
  - split; [|intros]; lra.
Qed.

Lemma entropy_at_most D gamma (q : pmf Z) :
  (1 <= D)%Z -> support q = range (- D) D ->
  gamma * Sum (- D <= z <= D) (IZR z ^ 2 * q z) <= gamma * V D gamma ->
  entropy D q <= entropy D (p D gamma)
  /\ (entropy D q = entropy D (p D gamma) -> forall z, q z = p D gamma z).
Proof.
  intros HD Su M. assert (Sp := S_pos D gamma ltac:(lia)).
  assert (L : forall z, (- D <= z <= D)%Z -> ln (p D gamma z) = - ln (S D gamma) - gamma * IZR z ^ 2).
  { intros z B. rewrite p_in by assumption. rewrite C_S by lia.
    rewrite ln_mult, ln_Rinv by (try apply Rinv_0_lt_compat; assumption || apply w_pos).
    unfold w. rewrite ln_exp. ring. }
  assert (One : Sum (- D <= z <= D) q z = 1) by (rewrite <- (normalised _ q), Su; reflexivity).
  assert (Cross : forall f : Z -> R, Sum (- D <= z <= D) f z = 1 ->
    Sum (- D <= z <= D) (- (f z * ln (p D gamma z))) = ln (S D gamma) + gamma * Sum (- D <= z <= D) (IZR z ^ 2 * f z)).
  { intros f F. rewrite (sum_ext _ _ _ (fun z => ln (S D gamma) * f z + gamma * (IZR z ^ 2 * f z))).
    - rewrite sum_plus, !sum_scal. change (sum (- D) D f) with (Sum (- D <= z <= D) f z). rewrite F. ring.
    - intros z B. rewrite L by assumption. ring. }
  assert (Hp : entropy D (p D gamma) = ln (S D gamma) + gamma * V D gamma).
  { unfold entropy, V. apply Cross, adds_up_to_1. lia. }
  set (bound := fun z => - (q z * ln (p D gamma z)) + (p D gamma z - q z)).
  assert (Bd : sum (- D) D bound = ln (S D gamma) + gamma * Sum (- D <= z <= D) (IZR z ^ 2 * q z)).
  { unfold bound. rewrite sum_plus, sum_minus. rewrite (Cross q One).
    change (sum (- D) D (p D gamma)) with (Sum (- D <= z <= D) p D gamma z).
    change (sum (- D) D q) with (Sum (- D <= z <= D) q z).
    rewrite One, adds_up_to_1 by lia. ring. }
  assert (G : forall z, (- D <= z <= D)%Z -> - (q z * ln (q z)) <= bound z).
  { intros z B. apply gibbs; [apply nonnegative|apply p_pos, B]. }
  assert (Le : entropy D q <= sum (- D) D bound) by (apply sum_le, G).
  split; [lra|]. intros E z.
  destruct (Z_le_dec (- D) z) as [B1|B1]; [destruct (Z_le_dec z D) as [B2|B2]|].
  - assert (B : (- D <= z <= D)%Z) by lia. apply (gibbs (q z) (p D gamma z)); [apply nonnegative|apply p_pos, B|].
    apply Rle_antisym; [apply G, B|]. apply Rnot_lt_le. intros Q.
    assert (X : entropy D q < sum (- D) D bound) by (apply sum_lt with z; assumption). lra.
  - rewrite p_out by lia. destruct (Req_EM_T (q z) 0) as [X|X]; [exact X|]. apply supported in X.
    rewrite Su, in_range in X. lia.
  - rewrite p_out by lia. destruct (Req_EM_T (q z) 0) as [X|X]; [exact X|]. apply supported in X.
    rewrite Su, in_range in X. lia.
Qed.

(** The problem (5): a law on [−D, D] without bias whose variance is at most v. *)
Definition allowed (D : Z) (v : R) (q : pmf Z) : Prop :=
  support q = range (- D) D /\ Sum (- D <= z <= D) (IZR z * q z) = 0
  /\ Sum (- D <= z <= D) (IZR z ^ 2 * q z) <= v.

(** The law of largest entropy: it is allowed, and every other allowed one has less. *)
Definition maximises_entropy (D : Z) (v : R) (best : pmf Z) : Prop :=
  allowed D v best /\ forall q, allowed D v q ->
    entropy D q <= entropy D best /\ (entropy D q = entropy D best -> forall z, q z = best z).

(** Eq. (6): for 0 < v < D(D+1)/3 the solution is C e^(−γz²) with the one γ > 0 whose variance is v, and
    there is no other; from D(D+1)/3 on it is the uniform law. *)
Theorem maximum_entropy D v (HD : (1 <= D)%Z) :
  0 < v ->
  (v < IZR D * (IZR D + 1) / 3 ->
   exists gamma, 0 < gamma /\ V D gamma = v /\ maximises_entropy D v (noise D gamma HD))
  /\ (IZR D * (IZR D + 1) / 3 <= v -> maximises_entropy D v (noise D 0 HD)).
Proof.
  intros P. split.
  - intros B. destruct (one_gamma_per_variance D v HD (conj P B)) as (gamma & [G E] & _).
    exists gamma. split; [exact G|]. split; [exact E|]. split.
    + split; [reflexivity|]. split; [apply zero_bias|]. rewrite <- E. apply Rle_refl.
    + intros q (Su & _ & M). apply (entropy_at_most D gamma q HD Su).
      apply Rmult_le_compat_l; [lra|]. rewrite E. exact M.
  - intros B. split.
    + split; [reflexivity|]. split; [apply zero_bias|]. apply Rle_trans with (2 := B).
      rewrite <- (proj1 (uniform D HD)). apply Rle_refl.
    + intros q (Su & _ & M). apply (entropy_at_most D 0 q HD Su). lra.
Qed.

(** ** The ranges of Section III-C *)

Lemma range_falls (f : R -> R) low high x :
  (forall a b, a < b -> f b < f a) -> (low <= x < high <-> f high < f x <= f low).
Proof.
  intros F. split.
  - intros [[L| ->] H]; split; auto; try lra. apply Rlt_le, F, L.
  - intros [H L]. split; apply Rnot_lt_le || apply Rnot_le_lt; intros Q.
    + apply F in Q. lra.
    + destruct Q as [Q|Q]; [apply F in Q|subst x]; lra.
Qed.

(** Eqs. (25) to (27): the ranges of V, C and δ that belong to the range (23) of γ. *)
Theorem ranges D gamma eps :
  (1 <= D)%Z ->
  let low := eps / (2 * IZR D + 1) in
  let high := eps / (2 * IZR D - 1) in
  (low <= gamma < high <-> V D high < V D gamma <= V D low)
  /\ (low <= gamma < high <-> C D low <= C D gamma < C D high)
  /\ (low <= gamma < high <-> edge D high < edge D gamma <= edge D low).
Proof.
  intros HD low high. split; [|split].
  - apply range_falls. intros a b. apply variance_falls, HD.
  - rewrite (range_falls (fun g => - C D g) low high gamma); [lra|].
    intros a b L. apply Ropp_lt_contravar, C_grows; assumption.
  - apply range_falls. intros a b. apply edge_falls, HD.
Qed.
