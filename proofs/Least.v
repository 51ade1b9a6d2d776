(** Past the paper: the least δ of any noise on [−D, D]. *)

From Coq Require Import Reals ZArith List Lra Lia Bool.
From TableBuilder Require Import Sums Privacy Mechanism Noise Proposition2 Sampling.
Import ListNotations.
Local Open Scope R_scope.

(** The bound: (e^ε − 1) / (e^(ε(D+1)) + e^(εD) − 2). *)
Definition least_delta (D : Z) (eps : R) : R :=
  (exp eps - 1) / (exp (eps * (IZR D + 1)) + exp (eps * IZR D) - 2).

(** The geometric noise, cut off at ±D: its masses fall by e^ε from one to the next. *)
Definition geometric (D : Z) (eps : R) (z : Z) : R :=
  least_delta D eps * exp (eps * (IZR D - Rabs (IZR z))).

(* 1 + q + ... + q^n, and 0 for n = -1 *)
Definition ladder (eps : R) (n : Z) : R := (exp (eps * (IZR n + 1)) - 1) / (exp eps - 1).

Section AnyNoise.
Variables (P : pmf Z) (D : Z) (eps delta' : R).
Hypothesis HD : (1 <= D)%Z.
Hypothesis P_support : support P = range (- D) D.
Hypothesis eps_pos : 0 < eps.

Lemma q_above_1 : 1 < exp eps.
Proof. rewrite <- exp_0. apply exp_increasing. assumption. Qed.

Lemma ladder_first : ladder eps (-1) = 0.
Proof.
  unfold ladder. replace (eps * (-1 + 1)) with 0 by ring. rewrite exp_0.
  assert (Q := q_above_1). field. lra.
Qed.

Lemma ladder_step n : ladder eps (n + 1) = 1 + exp eps * ladder eps n.
Proof.
  unfold ladder. rewrite plus_IZR. replace (eps * (IZR n + 1 + 1)) with (eps + eps * (IZR n + 1)) by ring.
  rewrite exp_plus. assert (Q := q_above_1). field. lra.
Qed.

Lemma powers : 1 < exp (eps * IZR D) /\ 1 < exp (eps * (IZR D + 1)).
Proof.
  assert (1 <= IZR D) by (apply IZR_le; exact HD).
  split; rewrite <- exp_0 at 1; apply exp_increasing; apply Rmult_lt_0_compat; lra.
Qed.

Lemma ladders : ladder eps D + ladder eps (D - 1) = / least_delta D eps.
Proof.
  assert (Q := q_above_1). destruct powers as [E F].
  unfold ladder, least_delta. rewrite minus_IZR. replace (IZR D - 1 + 1) with (IZR D) by ring. field. lra.
Qed.

Lemma least_delta_pos : 0 < least_delta D eps.
Proof.
  assert (Q := q_above_1). destruct powers as [E F].
  apply Rdiv_lt_0_compat; lra.
Qed.

Hypothesis up : hockey (exp eps) P (shifted 1 P) <= delta'.
Hypothesis down : hockey (exp eps) (shifted 1 P) P <= delta'.

(* The lower and the upper tail. *)
Let below (t : Z) : R := Sum (- D <= y <= t) P y.
Let above (t : Z) : R := Sum (t <= y <= D) P y.

Lemma below_step t : (- D <= t <= D)%Z -> below t <= exp eps * below (t - 1) + delta'.
Proof.
  intros B. assert (N : 0 <= exp eps) by apply Rlt_le, exp_pos. unfold below.
  apply Rle_trans with (exp eps * below (t - 1) + hockey (exp eps) P (shifted 1 P)); [|unfold below; lra].
  unfold hockey. simpl. rewrite P_support.
  change (Sum (- D <= y <= t) P y <= exp eps * below (t - 1) + Sum (- D <= y <= D) positive (P y - exp eps * P (y - 1)%Z)).
  rewrite (sum_split (- D) t D) by lia.
  assert (R : 0 <= Sum (t + 1 <= y <= D) positive (P y - exp eps * P (y - 1)%Z))
    by (apply sum_nonneg; intros; apply positive_nonneg).
  assert (M : Sum (- D <= y <= t) P y - exp eps * Sum (- D <= y <= t) P (y - 1)%Z
    <= Sum (- D <= y <= t) positive (P y - exp eps * P (y - 1)%Z)).
  { rewrite <- sum_scal, <- sum_minus. apply sum_le. intros; apply positive_ge. }
  assert (Sh : Sum (- D <= y <= t) P (y - 1)%Z = below (t - 1)).
  { unfold below. rewrite sum_first by lia. rewrite (P_out P D P_support) by lia.
    replace t with (t - 1 + 1)%Z at 1 by lia. rewrite (sum_shift 1 (- D) (t - 1) (fun y => P (y - 1)%Z)).
    rewrite Rplus_0_l. apply sum_ext. intros y _. f_equal. lia. }
  rewrite Sh in M. lra.
Qed.

Lemma above_step t : (- D <= t <= D)%Z -> above t <= exp eps * above (t + 1) + delta'.
Proof.
  intros B. assert (N : 0 <= exp eps) by apply Rlt_le, exp_pos.
  apply Rle_trans with (exp eps * above (t + 1) + hockey (exp eps) (shifted 1 P) P); [|lra].
  rewrite hockey_back, P_support.
  change (above t <= exp eps * above (t + 1) + Sum (- D <= y <= D) positive (P y - exp eps * P (y + 1)%Z)).
  rewrite (sum_split (- D) (t - 1) D) by lia. replace (t - 1 + 1)%Z with t by lia.
  assert (R : 0 <= Sum (- D <= y <= t - 1) positive (P y - exp eps * P (y + 1)%Z))
    by (apply sum_nonneg; intros; apply positive_nonneg).
  assert (M : Sum (t <= y <= D) P y - exp eps * Sum (t <= y <= D) P (y + 1)%Z
    <= Sum (t <= y <= D) positive (P y - exp eps * P (y + 1)%Z)).
  { rewrite <- sum_scal, <- sum_minus. apply sum_le. intros; apply positive_ge. }
  assert (Sh : Sum (t <= y <= D) P (y + 1)%Z = above (t + 1)).
  { unfold above. rewrite <- (sum_shift 1 t D (fun y => P y)). rewrite (sum_last (t + 1) (D + 1)) by lia.
    rewrite (P_out P D P_support) by lia. replace (D + 1 - 1)%Z with D by lia. ring. }
  rewrite Sh in M. fold (above t) in M. lra.
Qed.

Lemma below_bound n : (- D - 1 + Z.of_nat n <= D)%Z ->
  below (- D - 1 + Z.of_nat n) <= delta' * ladder eps (Z.of_nat n - 1).
Proof.
  induction n as [|n IH]; intros B.
  - unfold below. rewrite sum_empty by lia. simpl (Z.of_nat 0 - 1)%Z. rewrite ladder_first. lra.
  - assert (St := below_step (- D - 1 + Z.of_nat (Datatypes.S n)) ltac:(lia)).
    replace (- D - 1 + Z.of_nat (Datatypes.S n) - 1)%Z with (- D - 1 + Z.of_nat n)%Z in St by lia.
    replace (Z.of_nat (Datatypes.S n) - 1)%Z with (Z.of_nat n - 1 + 1)%Z by lia. rewrite ladder_step.
    specialize (IH ltac:(lia)). assert (Q := q_above_1). nra.
Qed.

Lemma above_bound n : (- D <= D + 1 - Z.of_nat n)%Z ->
  above (D + 1 - Z.of_nat n) <= delta' * ladder eps (Z.of_nat n - 1).
Proof.
  induction n as [|n IH]; intros B.
  - unfold above. rewrite sum_empty by lia. simpl (Z.of_nat 0 - 1)%Z. rewrite ladder_first. lra.
  - assert (St := above_step (D + 1 - Z.of_nat (Datatypes.S n)) ltac:(lia)).
    replace (D + 1 - Z.of_nat (Datatypes.S n) + 1)%Z with (D + 1 - Z.of_nat n)%Z in St by lia.
    replace (Z.of_nat (Datatypes.S n) - 1)%Z with (Z.of_nat n - 1 + 1)%Z by lia. rewrite ladder_step.
    specialize (IH ltac:(lia)). assert (Q := q_above_1). nra.
Qed.

Lemma whole t : (- D - 1 <= t <= D)%Z -> below t + above (t + 1) = 1.
Proof.
  intros B. unfold below, above. rewrite <- sum_split by lia. rewrite <- (normalised _ P), P_support. reflexivity.
Qed.

Lemma bound : least_delta D eps <= delta'.
Proof.
  assert (A := below_bound (Z.to_nat (D + 1)) ltac:(lia)). assert (B := above_bound (Z.to_nat D) ltac:(lia)).
  rewrite Z2Nat.id in A, B by lia. replace (- D - 1 + (D + 1))%Z with 0%Z in A by lia.
  replace (D + 1 - 1)%Z with D in A by lia. replace (D + 1 - D)%Z with (0 + 1)%Z in B by lia.
  assert (W := whole 0 ltac:(lia)). assert (L := ladders). assert (Q := least_delta_pos).
  assert (M : 1 <= delta' * / least_delta D eps) by (rewrite <- L; lra).
  apply Rmult_le_compat_r with (r := least_delta D eps) in M; [|lra].
  rewrite Rmult_assoc, Rinv_l in M by lra. lra.
Qed.

(* Equality: the steps are equalities all the way. *)
Hypothesis tight : delta' = least_delta D eps.

Lemma below_exact n : (n <= Z.to_nat (D + 1))%nat ->
  below (- D - 1 + Z.of_nat n) = delta' * ladder eps (Z.of_nat n - 1)
  /\ forall m, (m <= Z.to_nat D)%nat -> above (D + 1 - Z.of_nat m) = delta' * ladder eps (Z.of_nat m - 1).
Proof.
  assert (Q := q_above_1).
  assert (Top : below 0 = delta' * ladder eps D /\ above 1 = delta' * ladder eps (D - 1)).
  { assert (A := below_bound (Z.to_nat (D + 1)) ltac:(lia)). assert (B := above_bound (Z.to_nat D) ltac:(lia)).
    rewrite Z2Nat.id in A, B by lia. replace (- D - 1 + (D + 1))%Z with 0%Z in A by lia.
    replace (D + 1 - 1)%Z with D in A by lia. replace (D + 1 - D)%Z with (0 + 1)%Z in B by lia.
    assert (W := whole 0 ltac:(lia)). assert (L := ladders). assert (P0 := least_delta_pos).
    assert (M : delta' * ladder eps D + delta' * ladder eps (D - 1) = 1).
    { rewrite <- Rmult_plus_distr_l, L, tight. field. lra. }
    simpl (0 + 1)%Z in *. lra. }
  assert (Down : forall k, (k <= Z.to_nat (D + 1))%nat ->
    below (- Z.of_nat k) = delta' * ladder eps (D - Z.of_nat k)).
  { induction k as [|k IH]; intros K.
    - simpl. rewrite Z.sub_0_r. apply Top.
    - specialize (IH ltac:(lia)). assert (St := below_step (- Z.of_nat k) ltac:(lia)).
      replace (- Z.of_nat k - 1)%Z with (- Z.of_nat (Datatypes.S k))%Z in St by lia.
      assert (A := below_bound (Z.to_nat (D + 1 - Z.of_nat (Datatypes.S k))) ltac:(lia)).
      rewrite Z2Nat.id in A by lia.
      replace (- D - 1 + (D + 1 - Z.of_nat (Datatypes.S k)))%Z with (- Z.of_nat (Datatypes.S k))%Z in A by lia.
      replace (D + 1 - Z.of_nat (Datatypes.S k) - 1)%Z with (D - Z.of_nat (Datatypes.S k))%Z in A by lia.
      replace (D - Z.of_nat k)%Z with (D - Z.of_nat (Datatypes.S k) + 1)%Z in IH by lia.
      rewrite ladder_step in IH. nra. }
  assert (Up : forall k, (k <= Z.to_nat D)%nat ->
    above (1 + Z.of_nat k) = delta' * ladder eps (D - 1 - Z.of_nat k)).
  { induction k as [|k IH]; intros K.
    - simpl. rewrite Z.sub_0_r. apply Top.
    - specialize (IH ltac:(lia)). assert (St := above_step (1 + Z.of_nat k) ltac:(lia)).
      replace (1 + Z.of_nat k + 1)%Z with (1 + Z.of_nat (Datatypes.S k))%Z in St by lia.
      assert (A := above_bound (Z.to_nat (D - Z.of_nat (Datatypes.S k))) ltac:(lia)).
      rewrite Z2Nat.id in A by lia.
      replace (D + 1 - (D - Z.of_nat (Datatypes.S k)))%Z with (1 + Z.of_nat (Datatypes.S k))%Z in A by lia.
      replace (D - Z.of_nat (Datatypes.S k) - 1)%Z with (D - 1 - Z.of_nat (Datatypes.S k))%Z in A by lia.
      replace (D - 1 - Z.of_nat k)%Z with (D - 1 - Z.of_nat (Datatypes.S k) + 1)%Z in IH by lia.
      rewrite ladder_step in IH. nra. }
  intros N. split.
  - replace (- D - 1 + Z.of_nat n)%Z with (- Z.of_nat (Z.to_nat (D + 1) - n))%Z by lia.
    rewrite Down by lia. do 2 f_equal. lia.
  - intros m M. replace (D + 1 - Z.of_nat m)%Z with (1 + Z.of_nat (Z.to_nat D - m))%Z by lia.
    rewrite Up by lia. do 2 f_equal. lia.
Qed.

Lemma ladder_difference n : ladder eps n - ladder eps (n - 1) = exp (eps * IZR n).
Proof.
  unfold ladder. rewrite minus_IZR. replace (IZR n - 1 + 1) with (IZR n) by ring.
  replace (eps * (IZR n + 1)) with (eps + eps * IZR n) by ring. rewrite exp_plus.
  assert (Q := q_above_1). field. lra.
Qed.

Lemma only_geometric z : (- D <= z <= D)%Z -> P z = geometric D eps z.
Proof.
  intros B. unfold geometric. rewrite <- tight. destruct (Z_le_dec z 0) as [L|L].
  - destruct (below_exact (Z.to_nat (z + D + 1)) ltac:(lia)) as [E _].
    destruct (below_exact (Z.to_nat (z + D)) ltac:(lia)) as [F _]. rewrite Z2Nat.id in E, F by lia.
    replace (- D - 1 + (z + D + 1))%Z with z in E by lia. replace (- D - 1 + (z + D))%Z with (z - 1)%Z in F by lia.
    replace (z + D + 1 - 1)%Z with (z + D)%Z in E by lia.
    assert (S : below z = below (z - 1) + P z) by (unfold below; apply sum_last; lia).
    assert (G := ladder_difference (z + D)). rewrite plus_IZR in G.
    rewrite <- abs_IZR, Z.abs_neq, opp_IZR by lia. replace (eps * (IZR D - - IZR z)) with (eps * (IZR z + IZR D)) by ring.
    rewrite <- G. lra.
  - destruct (below_exact 0 ltac:(lia)) as [_ X].
    assert (E := X (Z.to_nat (D + 1 - z)) ltac:(lia)). assert (F := X (Z.to_nat (D - z)) ltac:(lia)).
    rewrite Z2Nat.id in E, F by lia. replace (D + 1 - (D + 1 - z))%Z with z in E by lia.
    replace (D + 1 - (D - z))%Z with (z + 1)%Z in F by lia. replace (D + 1 - z - 1)%Z with (D - z)%Z in E by lia.
    assert (S : above z = P z + above (z + 1)) by (unfold above; apply sum_first; lia).
    assert (G := ladder_difference (D - z)). rewrite minus_IZR in G.
    rewrite <- abs_IZR, Z.abs_eq by lia. rewrite <- G. lra.
Qed.

End AnyNoise.

(** No noise on [−D, D] has a smaller δ than this, in any setting of one count; and only one law attains it. *)
Theorem least_delta_of_any_noise {A} (P : pmf Z) D (q : A -> bool) least r eps delta' :
  (1 <= D)%Z -> support P = range (- D) D -> 0 < eps -> q r = true ->
  private (neighbours q least) (mechanism P q) eps delta' ->
  least_delta D eps <= delta'
  /\ (delta' = least_delta D eps -> forall z, (- D <= z <= D)%Z -> P z = geometric D eps z).
Proof.
  intros HD Su E R H. apply (private_is_both_directions P q least eps delta' r) in H; [|lra|exact R].
  destruct H as [U W]. split.
  - apply (bound P D eps delta'); assumption.
  - intros T z B. apply (only_geometric P D eps delta'); assumption.
Qed.

(** ** The law that attains it *)

Lemma half_sum eps n :
  0 < eps -> Sum (1 <= z <= Z.of_nat n) exp (eps * (IZR (Z.of_nat n) - IZR z)) = ladder eps (Z.of_nat n - 1).
Proof.
  intros E. induction n as [|n IH].
  - rewrite sum_empty by lia. symmetry. apply ladder_first, E.
  - rewrite sum_last by lia. replace (Z.of_nat (Datatypes.S n) - 1)%Z with (Z.of_nat n) by lia.
    replace (ladder eps (Z.of_nat n)) with (ladder eps (Z.of_nat n - 1 + 1)) by (f_equal; lia).
    rewrite ladder_step, <- IH by assumption. rewrite <- sum_scal. rewrite Rminus_eq_0, Rmult_0_r, exp_0.
    rewrite Rplus_comm. f_equal. apply sum_ext. intros z _. rewrite <- exp_plus. f_equal.
    rewrite Nat2Z.inj_succ. unfold Z.succ. rewrite plus_IZR. ring.
Qed.

Lemma geometric_even D eps z : geometric D eps (- z) = geometric D eps z.
Proof. unfold geometric. rewrite opp_IZR, Rabs_Ropp. reflexivity. Qed.

Lemma geometric_total D eps : (1 <= D)%Z -> 0 < eps -> Sum (- D <= z <= D) geometric D eps z = 1.
Proof.
  intros HD E. rewrite (sum_even D (fun z => geometric D eps z)); [|lia|intros; apply geometric_even].
  assert (H := half_sum eps (Z.to_nat D) E). rewrite Z2Nat.id in H by lia.
  rewrite (sum_ext 1 D _ (fun z => least_delta D eps * exp (eps * (IZR D - IZR z)))).
  - rewrite sum_scal, H. unfold geometric. rewrite Rabs_R0, Rminus_0_r.
    assert (L := ladder_difference eps E D). assert (T := ladders D eps HD E).
    rewrite <- L. assert (P := least_delta_pos D eps HD E).
    replace (ladder eps D) with (/ least_delta D eps - ladder eps (D - 1)) by lra. field. lra.
  - intros z B. unfold geometric. rewrite Rabs_right; [reflexivity|]. apply Rle_ge, IZR_le. lia.
Qed.

(** The geometric noise as a law. *)
Program Definition geometric_noise D eps (HD : (1 <= D)%Z) (E : 0 < eps) : pmf Z := {|
  mass := fun z => if ((- D <=? z) && (z <=? D))%Z then geometric D eps z else 0;
  support := range (- D) D
|}.
Next Obligation. apply NoDup_range. Qed.
Next Obligation.
  apply in_range. destruct (Z.leb_spec (- D) y), (Z.leb_spec y D); simpl in H; try congruence. lia.
Qed.
Next Obligation.
  destruct (_ && _)%bool; [|lra]. apply Rmult_le_pos; [apply Rlt_le, least_delta_pos; assumption|].
  apply Rlt_le, exp_pos.
Qed.
Next Obligation.
  rewrite <- (geometric_total D eps) by assumption. apply sum_ext. intros z B.
  replace ((- D <=? z) && (z <=? D))%Z with true; [reflexivity|].
  symmetry. apply andb_true_intro. split; apply Z.leb_le; lia.
Qed.

(** The geometric noise attains the bound. *)
Theorem geometric_attains_it {A} D eps (HD : (1 <= D)%Z) (E : 0 < eps) (q : A -> bool) least r delta' :
  q r = true ->
  private (neighbours q least) (mechanism (geometric_noise D eps HD E) q) eps delta'
  <-> least_delta D eps <= delta'.
Proof.
  intros R. assert (LP := least_delta_pos D eps HD E).
  assert (In : forall z, (- D <= z <= D)%Z -> geometric_noise D eps HD E z = geometric D eps z).
  { intros z B. simpl. replace ((- D <=? z) && (z <=? D))%Z with true; [reflexivity|].
    symmetry. apply andb_true_intro. split; apply Z.leb_le; lia. }
  assert (St : forall y z, Rabs (IZR z) <= Rabs (IZR y) + 1 -> geometric D eps y <= exp eps * geometric D eps z).
  { intros y z H. unfold geometric. rewrite <- Rmult_assoc, (Rmult_comm (exp eps)), Rmult_assoc, <- exp_plus.
    apply Rmult_le_compat_l; [lra|].
    destruct (Req_dec (eps * (IZR D - Rabs (IZR y))) (eps + eps * (IZR D - Rabs (IZR z)))) as [->|N]; [lra|].
    apply Rlt_le, exp_increasing. nra. }
  rewrite (two_sided_pair (geometric_noise D eps HD E) D HD eq_refl q least r); [|lra|exact R|].
  - replace (Rmax (geometric_noise D eps HD E (- D)%Z) (geometric_noise D eps HD E D)) with (least_delta D eps); [reflexivity|].
    rewrite !In by lia. rewrite geometric_even, Rmax_left by lra. unfold geometric.
    rewrite Rabs_right by (apply Rle_ge, IZR_le; lia). rewrite Rminus_eq_0, Rmult_0_r, exp_0. ring.
  - intros z B. rewrite !In by lia. split; apply St.
    + rewrite minus_IZR. unfold Rabs. destruct (Rcase_abs (IZR z - 1)), (Rcase_abs (IZR z)); lra.
    + rewrite minus_IZR. unfold Rabs. destruct (Rcase_abs (IZR z - 1)), (Rcase_abs (IZR z)); lra.
Qed.
