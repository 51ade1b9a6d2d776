(** Section II: mechanisms with finitely many outputs, and differential privacy for all events. *)

From Coq Require Import Reals ZArith List Lra Lia Bool.
From TableBuilder Require Import Sums.
Import ListNotations.
Local Open Scope R_scope.

(** A law on finitely many outputs: its masses, and a list of all outputs that can occur. *)
Record pmf (T : Type) := {
  mass :> T -> R;
  support : list T;
  distinct : NoDup support;
  supported : forall y, mass y <> 0 -> In y support;
  nonnegative : forall y, 0 <= mass y;
  normalised : total support mass = 1
}.
Arguments mass {T}.
Arguments support {T}.

(** The probability of an event. On finitely many outputs every event is decidable. *)
Definition Pr {T} (P : pmf T) (E : T -> bool) : R :=
  total (support P) (fun y => if E y then P y else 0).

(** (ε, δ)-differential privacy of a mechanism M: all neighbouring data sets and all events. *)
Definition private {X T} (neighbours : X -> X -> Prop) (M : X -> pmf T) (eps delta : R) : Prop :=
  forall x x', neighbours x x' -> forall E, Pr (M x) E <= exp eps * Pr (M x') E + delta.

(** The larger of 0 and x. *)
Definition positive (x : R) : R := Rmax 0 x.

(** The hockey-stick sum of two laws: all that P has beyond λQ. *)
Definition hockey {T} (lambda : R) (P Q : pmf T) : R :=
  total (support P) (fun y => positive (P y - lambda * Q y)).

Lemma positive_pos x : 0 <= x -> positive x = x.
Proof. intros; apply Rmax_right; assumption. Qed.

Lemma positive_neg x : x <= 0 -> positive x = 0.
Proof. intros; apply Rmax_left; assumption. Qed.

Lemma positive_ge x : x <= positive x.
Proof. apply Rmax_r. Qed.

Lemma positive_nonneg x : 0 <= positive x.
Proof. apply Rmax_l. Qed.

Lemma positive_scal c x : 0 <= c -> positive (c * x) = c * positive x.
Proof.
  intros H. destruct (Rle_dec 0 x) as [L|L].
  - rewrite !positive_pos; auto. apply Rmult_le_pos; assumption.
  - rewrite !positive_neg by nra. ring.
Qed.

Section Events.
Context {T : Type}.
Implicit Types (P Q : pmf T) (E : T -> bool).

Lemma total_incl (l m : list T) f :
  NoDup l -> incl l m -> (forall y, 0 <= f y) -> total l f <= total m f.
Proof.
  revert m. induction l as [|y l IH]; intros m N I F; simpl.
  - apply total_nonneg; auto.
  - inversion N as [|? ? N1 N2]; subst. destruct (in_split y m) as (m1 & m2 & ->).
    + apply I; left; reflexivity.
    + rewrite total_app. simpl. assert (H := IH (m1 ++ m2) N2). rewrite total_app in H.
      assert (total l f <= total m1 f + total m2 f); [|lra].
      apply H; auto. intros z J. assert (K := I z (or_intror J)).
      apply in_or_app. apply in_app_or in K. simpl in K. intuition congruence.
Qed.

(** The sum of Q over the outputs of P in an event is at most its probability under Q. *)
Lemma part_of_event P Q E : total (support P) (fun y => if E y then Q y else 0) <= Pr Q E.
Proof.
  unfold Pr. rewrite <- (total_nonzero (support P)).
  set (f := fun y => if E y then Q y else 0). apply total_incl.
  - apply NoDup_filter, distinct.
  - intros y I. apply filter_In in I. destruct I as [_ I]. apply supported. intros Z.
    unfold nonzero, f in I. rewrite Z in I. destruct (E y), (Req_EM_T 0 0); congruence.
  - intros y. unfold f. destruct (E y); [apply nonnegative|lra].
Qed.

Lemma Pr_over P E l :
  NoDup l -> incl (support P) l -> Pr P E = total l (fun y => if E y then P y else 0).
Proof.
  intros N I. apply total_support; [apply distinct|assumption|]. intros y H.
  assert (P y <> 0) by (destruct (E y); congruence).
  split; [apply I|]. intros _. apply supported. assumption.
Qed.

Lemma Pr_nonneg P E : 0 <= Pr P E.
Proof. apply total_nonneg. intros y _. destruct (E y); [apply nonnegative|lra]. Qed.

Definition gains (lambda : R) P Q (y : T) : bool :=
  if Rlt_dec (lambda * Q y) (P y) then true else false.

Lemma gain_of_event lambda P Q E :
  0 <= lambda -> Pr P E - lambda * Pr Q E <= hockey lambda P Q.
Proof.
  intros L. assert (H := part_of_event P Q E).
  apply Rle_trans with (Pr P E - lambda * total (support P) (fun y => if E y then Q y else 0)).
  - apply Rplus_le_compat_l, Ropp_le_contravar, Rmult_le_compat_l; assumption.
  - unfold Pr, hockey. rewrite <- total_scal, <- total_minus. apply total_le. intros y _.
    destruct (E y).
    + apply positive_ge.
    + rewrite Rmult_0_r, Rminus_0_r. apply positive_nonneg.
Qed.

Lemma gain_is_attained lambda P Q :
  0 <= lambda -> Pr P (gains lambda P Q) - lambda * Pr Q (gains lambda P Q) = hockey lambda P Q.
Proof.
  intros L. unfold Pr at 2.
  rewrite (total_support (support Q) (support P)); try apply distinct.
  - unfold Pr, hockey. rewrite <- total_scal, <- total_minus. apply total_ext. intros y _.
    unfold gains. destruct (Rlt_dec (lambda * Q y) (P y)).
    + rewrite positive_pos; [reflexivity|lra].
    + rewrite positive_neg by lra. ring.
  - intros y H. unfold gains in H. destruct (Rlt_dec (lambda * Q y) (P y)) as [G|G]; [|congruence].
    split; intros _; apply supported; [|assumption].
    assert (0 <= lambda * Q y) by (apply Rmult_le_pos; [assumption|apply nonnegative]). lra.
Qed.

(** An inequality for all events is one for the hockey-stick sum, which is the largest P(E) − λQ(E). *)
Theorem all_events_are_the_hockey_stick_sum lambda delta (P Q : pmf T) :
  0 <= lambda ->
  (forall E : T -> bool, Pr P E <= lambda * Pr Q E + delta) <-> hockey lambda P Q <= delta.
Proof.
  intros L. split; intros H.
  - assert (A := gain_is_attained lambda P Q L). specialize (H (gains lambda P Q)). lra.
  - intros E. assert (A := gain_of_event lambda P Q E L). lra.
Qed.

End Events.

(** Differential privacy is a bound on the hockey-stick sums of all neighbours. *)
Theorem private_is_hockey_stick {X T} (neighbours : X -> X -> Prop) (M : X -> pmf T) eps delta :
  private neighbours M eps delta
  <-> forall x x', neighbours x x' -> hockey (exp eps) (M x) (M x') <= delta.
Proof.
  unfold private. assert (L : 0 <= exp eps) by (apply Rlt_le, exp_pos).
  split; intros H x x' N; apply (all_events_are_the_hockey_stick_sum _ _ _ _ L), H, N.
Qed.

(** The counting query: how many records of the data set x have the property q. *)
Definition count {A} (q : A -> bool) (x : list A) : Z := Z.of_nat (length (filter q x)).

(** Data sets that differ in one record, which was added, removed or replaced. *)
Definition differ_in_one {A} (x x' : list A) : Prop :=
  exists before after r r',
    (x = before ++ after /\ x' = before ++ r :: after)
    \/ (x = before ++ r :: after /\ x' = before ++ after)
    \/ (x = before ++ r :: after /\ x' = before ++ r' :: after).

(** Neighbours among the data sets whose count is at least a given number, which is D in the paper. *)
Definition neighbours {A} (q : A -> bool) (least : Z) (x x' : list A) : Prop :=
  (least <= count q x)%Z /\ (least <= count q x')%Z /\ differ_in_one x x'.

Lemma count_app {A} (q : A -> bool) x x' : count q (x ++ x') = (count q x + count q x')%Z.
Proof. unfold count. rewrite filter_app, app_length. lia. Qed.

Lemma count_cons {A} (q : A -> bool) r x :
  count q (r :: x) = (count q x + if q r then 1 else 0)%Z.
Proof. unfold count. simpl. destruct (q r); simpl length; lia. Qed.

(** Data sets that differ in one record have counts that differ by at most 1. *)
Theorem neighbours_counts {A} (q : A -> bool) least x x' :
  neighbours q least x x' -> (Z.abs (count q x - count q x') <= 1)%Z.
Proof.
  intros (_ & _ & before & after & r & r' & [[-> ->]|[[-> ->]|[-> ->]]]);
    rewrite ?count_app, ?count_cons; destruct (q r); try destruct (q r'); lia.
Qed.

Lemma count_repeat {A} (q : A -> bool) r n : q r = true -> count q (repeat r n) = Z.of_nat n.
Proof.
  intros H. induction n as [|n IH]; [reflexivity|].
  simpl repeat. rewrite count_cons, IH, H. lia.
Qed.
