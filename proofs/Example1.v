(** Example 1 in numbers, by CoqInterval from the definitions. *)

From Coq Require Import Reals ZArith List Lra Lia Bool.
From Interval Require Import Tactic.
From TableBuilder Require Import Sums Privacy Mechanism Noise Proposition2 Design.
Local Open Scope R_scope.

(** What is computed: all sums are written out, and nothing but exp and arithmetic is left. *)
Ltac numbers := cbv -[IZR exp ln pow Rplus Rminus Rmult Rdiv Rinv Ropp Rle Rlt Rge Rgt Rabs].

(** x rounds to the printed number, the unit of whose last digit is given. *)
Definition prints (x printed unit : R) : Prop := Rabs (x - printed) <= unit / 2.

(** ε = 0.5, δ = 10⁻⁴ and −ι = 2ε / (10(4D² − 1)): a slack of 1/10. *)
Definition gamma_25 : R := gamma_of (1 / 2) (1 / 10) 25.

Lemma D_25_reaches : delta_of (1 / 2) (1 / 10) 25 <= 1 / 10000.
Proof. numbers. interval with (i_prec 60). Qed.

Lemma D_24_does_not : delta_of (1 / 2) (1 / 10) 24 > 1 / 10000.
Proof. numbers. interval with (i_prec 60). Qed.

(** D* = 25: it reaches δ = 10⁻⁴ at ε = 0.5, and no smaller support does. *)
Theorem example_1_D_star : is_D_star (1 / 2) (1 / 10) (1 / 10000) 25.
Proof.
  split; [lia|]. split; [exact D_25_reaches|]. intros D H.
  assert (A := D_24_does_not). destruct (Z.eq_dec D 24) as [->|N]; [exact A|].
  assert (B := delta_of_falls_far (1 / 2) (1 / 10) D 24 ltac:(lia) ltac:(lra) ltac:(lra)). lra.
Qed.

(** δ ≈ 9.91×10⁻⁵, and the mechanism really has this δ. *)
Theorem example_1_delta :
  prints (delta 25 gamma_25 (1 / 2)) 0.0000991 0.0000001
  /\ delta 25 gamma_25 (1 / 2) = p 25 gamma_25 25.
Proof.
  assert (E : delta 25 gamma_25 (1 / 2) = p 25 gamma_25 25).
  { unfold gamma_25. rewrite delta_of_is_delta by (lia || lra). rewrite p_in by lia. reflexivity. }
  split; [|exact E]. rewrite E. numbers. interval with (i_prec 60).
Qed.

(** The variance: V ≈ 49.00. *)
Theorem example_1_variance : prints (V 25 gamma_25) 49.00 0.01.
Proof. rewrite variance_half by lia. numbers. interval with (i_prec 60). Qed.

(** The distance of γ from ε/(2D−1): −ι ≈ 4×10⁻⁵. *)
Theorem example_1_iota : prints (2 * (1 / 2) / (10 * (4 * 25 ^ 2 - 1))) 0.00004 0.00001.
Proof. unfold prints. interval with (i_prec 60). Qed.

(** Eq. (35), every printed digit. *)
Theorem example_1_masses :
  prints (p 25 gamma_25 0) 0.056895481243871 0.000000000000001
  /\ prints (p 25 gamma_25 1) 0.056320120792644 0.000000000000001
  /\ prints (p 25 gamma_25 2) 0.054628714970934 0.000000000000001
  /\ prints (p 25 gamma_25 24) 0.000163117271714 0.000000000000001
  /\ prints (p 25 gamma_25 25) 0.000099129808160 0.000000000000001.
Proof. repeat split; numbers; interval with (i_prec 80). Qed.

(** Eq. (35) at ±12: what is printed is p(±11), and p(±12) is another number. *)
Theorem example_1_p_12_is_not_as_printed :
  ~ prints (p 25 gamma_25 12) 0.016632589297126 0.000000000000001
  /\ prints (p 25 gamma_25 12) 0.013165377565781 0.000000000000001
  /\ prints (p 25 gamma_25 11) 0.016632589297126 0.000000000000001.
Proof.
  repeat split.
  - apply Rlt_not_le. numbers. interval with (i_prec 60).
  - numbers. interval with (i_prec 80).
  - numbers. interval with (i_prec 80).
Qed.
