(** Figure 1 in numbers: the γ of its four noises. *)

From Coq Require Import Reals ZArith List Lra Lia Bool.
From Interval Require Import Tactic.
From TableBuilder Require Import Sums Privacy Mechanism Noise Proposition2 Design Example1 Variance.
Local Open Scope R_scope.

Lemma gamma_between D v low high gamma :
  (1 <= D)%Z -> V D high < v < V D low -> V D gamma = v -> low < gamma < high.
Proof.
  intros HD B E. split; apply Rnot_le_lt; intros [L| ->]; try lra;
    apply (variance_falls D) in L; lra || assumption.
Qed.

Ltac enclosed low high :=
  intros E; apply (gamma_between _ _ low high) in E;
  [try (unfold prints; apply Rabs_le); lra|lia|rewrite !variance_half by lia; numbers; split; interval with (i_prec 60)].

(** Section III-B: γ = 0.125 has V = 4 on [−11, 11] and on [−15, 15], to three digits, and γ ≈ 0.0498
    has V = 10 on [−11, 11]. *)
Theorem figure_1_gammas gamma :
  (V 11 gamma = 4 -> prints gamma 0.125 0.001)
  /\ (V 15 gamma = 4 -> prints gamma 0.125 0.001)
  /\ (V 11 gamma = 10 -> prints gamma 0.0498 0.0001).
Proof.
  repeat split.
  - enclosed 0.1246 0.1254.
  - enclosed 0.1246 0.1254.
  - enclosed 0.04976 0.04984.
Qed.

(** On [−15, 15] the γ of V = 10 is above 0.04994, and not 0.0498. *)
Theorem figure_1_gamma_fails gamma : V 15 gamma = 10 -> 0.04994 < gamma < 0.05 /\ ~ prints gamma 0.0498 0.0001.
Proof.
  intros E. assert (B : 0.04994 < gamma < 0.05) by (revert E; enclosed 0.04994 0.05).
  split; [exact B|]. unfold prints. rewrite Rabs_right; lra.
Qed.
