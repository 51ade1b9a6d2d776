(** Section III-A: the TableBuilder noise. *)

From Coq Require Import Reals ZArith List Lra Lia Bool.
From TableBuilder Require Import Sums Privacy Mechanism.
Import ListNotations.
Local Open Scope R_scope.

(** The weight e^(−γz²). *)
Definition w (gamma : R) (z : Z) : R := exp (- gamma * IZR z ^ 2).

(** Eq. (7): C = 1 / (2 Σ e^(−γz²) + 1), the sum over z from 1 to D. *)
Definition C (D : Z) (gamma : R) : R := 1 / (2 * Sum (1 <= z <= D) w gamma z + 1).

(** Eq. (6): p(z) = C e^(−γz²) on [−D, D], and 0 elsewhere. *)
Definition p (D : Z) (gamma : R) (z : Z) : R :=
  if ((- D <=? z) && (z <=? D))%Z then C D gamma * w gamma z else 0.

(** Eq. (8): the variance, Σ z² p(z). *)
Definition V (D : Z) (gamma : R) : R := Sum (- D <= z <= D) (IZR z ^ 2 * p D gamma z).

Lemma w_pos gamma z : 0 < w gamma z.
Proof. apply exp_pos. Qed.

Lemma w_even gamma z : w gamma (- z) = w gamma z.
Proof. unfold w. rewrite opp_IZR. f_equal. ring. Qed.

Lemma w_0 gamma : w gamma 0 = 1.
Proof. unfold w. rewrite <- exp_0. f_equal. ring. Qed.

(** S = 1/C, the sum of all weights. *)
Definition S (D : Z) (gamma : R) : R := Sum (- D <= z <= D) w gamma z.

Lemma S_half D gamma : (0 <= D)%Z -> S D gamma = 2 * Sum (1 <= z <= D) w gamma z + 1.
Proof.
  intros H. unfold S. rewrite (sum_even D (fun z => w gamma z)); auto using w_even. rewrite w_0. ring.
Qed.

Lemma S_pos D gamma : (0 <= D)%Z -> 0 < S D gamma.
Proof.
  intros H. rewrite S_half by assumption.
  assert (0 <= Sum (1 <= z <= D) w gamma z) by (apply sum_nonneg; intros; apply Rlt_le, w_pos). lra.
Qed.

Lemma C_S D gamma : (0 <= D)%Z -> C D gamma = / S D gamma.
Proof. intros H. unfold C. rewrite S_half by assumption. unfold Rdiv. ring. Qed.

Lemma C_pos D gamma : (0 <= D)%Z -> 0 < C D gamma.
Proof. intros H. rewrite C_S by assumption. apply Rinv_0_lt_compat, S_pos, H. Qed.

Lemma p_in D gamma z : (- D <= z <= D)%Z -> p D gamma z = C D gamma * w gamma z.
Proof.
  intros H. unfold p. replace ((- D <=? z) && (z <=? D))%Z with true; [reflexivity|].
  symmetry. apply andb_true_intro. split; apply Z.leb_le; lia.
Qed.

Lemma p_out D gamma z : (z < - D \/ D < z)%Z -> p D gamma z = 0.
Proof.
  intros H. unfold p. replace ((- D <=? z) && (z <=? D))%Z with false; [reflexivity|].
  symmetry. apply andb_false_iff. destruct H; [left|right]; apply Z.leb_gt; lia.
Qed.

Lemma p_pos D gamma z : (- D <= z <= D)%Z -> 0 < p D gamma z.
Proof.
  intros H. rewrite p_in by assumption. apply Rmult_lt_0_compat; [apply C_pos; lia|apply w_pos].
Qed.

Lemma p_nonneg D gamma z : 0 <= p D gamma z.
Proof.
  destruct (Z_le_dec (- D) z), (Z_le_dec z D); try (apply Rlt_le, p_pos; lia);
    rewrite p_out by lia; lra.
Qed.

(** The noise is symmetric. *)
Theorem symmetric D gamma z : p D gamma (- z) = p D gamma z.
Proof.
  destruct (Z_le_dec (- D) z), (Z_le_dec z D); try (rewrite !p_in by lia; rewrite w_even; reflexivity);
    rewrite !p_out by lia; reflexivity.
Qed.

(** With this C the masses add up to 1. *)
Theorem adds_up_to_1 D gamma : (0 <= D)%Z -> Sum (- D <= z <= D) p D gamma z = 1.
Proof.
  intros H. rewrite (sum_ext _ _ _ (fun z => C D gamma * w gamma z)) by (intros; apply p_in; assumption).
  rewrite sum_scal. change (C D gamma * S D gamma = 1). rewrite C_S by assumption. field. apply Rgt_not_eq, S_pos, H.
Qed.

(** The noise has no bias. *)
Theorem zero_bias D gamma : Sum (- D <= z <= D) (IZR z * p D gamma z) = 0.
Proof. apply sum_odd. intros z. rewrite symmetric, opp_IZR. ring. Qed.

(** Eqs. (8) and (24): V as a sum over one half of the support. *)
Theorem variance_half D gamma :
  (0 <= D)%Z -> V D gamma = 2 * C D gamma * Sum (1 <= z <= D) (IZR z ^ 2 * w gamma z).
Proof.
  intros H. unfold V. rewrite sum_even; [|assumption|intros z; rewrite symmetric, opp_IZR; ring].
  rewrite (sum_ext 1 D _ (fun z => C D gamma * (IZR z ^ 2 * w gamma z))) by (intros; rewrite p_in by lia; ring).
  rewrite sum_scal. simpl IZR. ring.
Qed.

(** The TableBuilder noise as a law. *)
Program Definition noise (D : Z) (gamma : R) (HD : (1 <= D)%Z) : pmf Z := {|
  mass := p D gamma;
  support := range (- D) D
|}.
Next Obligation. apply NoDup_range. Qed.
Next Obligation.
  apply in_range. destruct (Z_le_dec (- D) y), (Z_le_dec y D); try lia; rewrite p_out in H by lia; lra.
Qed.
Next Obligation. apply p_nonneg. Qed.
Next Obligation. apply adds_up_to_1. lia. Qed.
