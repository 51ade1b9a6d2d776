(** Section II, eq. (1): a count with any integer noise. *)

From Coq Require Import Reals ZArith List Lra Lia Bool.
From TableBuilder Require Import Sums Privacy.
Import ListNotations.
Local Open Scope R_scope.

(** The law of n + Z, where P is that of Z. *)
Program Definition shifted (n : Z) (P : pmf Z) : pmf Z := {|
  mass := fun y => P (y - n)%Z;
  support := map (fun z => (z + n)%Z) (support P)
|}.
Next Obligation.
  apply FinFun.Injective_map_NoDup; [|apply distinct]. intros a b H. lia.
Qed.
Next Obligation.
  apply in_map_iff. exists (y - n)%Z. split; [lia|]. apply supported. assumption.
Qed.
Next Obligation. apply nonnegative. Qed.
Next Obligation.
  rewrite total_map, <- (normalised _ P). apply total_ext. intros z _. f_equal. lia.
Qed.

(** Eq. (1): M(x) = q(x) + Z. *)
Definition mechanism {A} (P : pmf Z) (q : A -> bool) (x : list A) : pmf Z :=
  shifted (count q x) P.

(** The hockey-stick sum of n + Z against m + Z. *)
Lemma hockey_shifted lambda n m (P : pmf Z) :
  hockey lambda (shifted n P) (shifted m P)
  = total (support P) (fun z => positive (P z - lambda * P (z + n - m)%Z)).
Proof.
  unfold hockey. simpl. rewrite total_map. apply total_ext. intros z _.
  do 2 f_equal; f_equal; lia.
Qed.

Lemma hockey_back lambda (P : pmf Z) :
  hockey lambda (shifted 1 P) P = total (support P) (fun z => positive (P z - lambda * P (z + 1)%Z)).
Proof.
  unfold hockey. simpl. rewrite total_map. apply total_ext. intros z _. do 2 f_equal. f_equal. lia.
Qed.

Lemma hockey_nonneg {T} lambda (P Q : pmf T) : 0 <= hockey lambda P Q.
Proof. apply total_nonneg. intros; apply positive_nonneg. Qed.

Lemma hockey_equal lambda n (P : pmf Z) : 1 <= lambda -> hockey lambda (shifted n P) (shifted n P) = 0.
Proof.
  intros L. rewrite hockey_shifted. apply total_zero. intros z _. apply positive_neg.
  replace (z + n - n)%Z with z by lia. assert (H := nonnegative _ P z). nra.
Qed.

(** Privacy of one count is a matter of the counts n and n + 1, in both directions, for any noise
    (r is a record that counts; without one there is nothing to protect). *)
Theorem private_is_both_directions {A} (P : pmf Z) (q : A -> bool) least eps delta r :
  0 <= eps -> q r = true ->
  private (neighbours q least) (mechanism P q) eps delta
  <-> hockey (exp eps) P (shifted 1 P) <= delta /\ hockey (exp eps) (shifted 1 P) P <= delta.
Proof.
  intros E R. rewrite private_is_hockey_stick.
  assert (L : 1 <= exp eps) by (destruct E as [E| <-]; [apply Rlt_le; rewrite <- exp_0; apply exp_increasing|rewrite exp_0]; lra).
  assert (U : forall n, hockey (exp eps) (shifted n P) (shifted (n + 1) P) = hockey (exp eps) P (shifted 1 P)).
  { intros n. rewrite hockey_shifted. apply total_ext. intros z _. simpl. do 3 f_equal. f_equal. lia. }
  assert (W : forall n, hockey (exp eps) (shifted (n + 1) P) (shifted n P) = hockey (exp eps) (shifted 1 P) P).
  { intros n. rewrite hockey_shifted. unfold hockey. simpl. rewrite total_map. apply total_ext. intros z _.
    do 2 f_equal; [|f_equal]; f_equal; lia. }
  split.
  - intros H. set (n := Z.to_nat least). set (x := repeat r n). set (y := r :: x).
    assert (Cx : count q x = Z.of_nat n) by (apply count_repeat, R).
    assert (Cy : count q y = (Z.of_nat n + 1)%Z) by (unfold y; rewrite count_cons, Cx, R; lia).
    assert (N : differ_in_one x y) by (exists [], x, r, r; left; auto).
    assert (N' : differ_in_one y x) by (exists [], x, r, r; right; left; auto).
    unfold mechanism in H. split.
    + rewrite <- (U (Z.of_nat n)), <- Cy, <- Cx at 1. apply H. repeat split; auto; lia.
    + rewrite <- (W (Z.of_nat n)), <- Cy, <- Cx. apply H. repeat split; auto; lia.
  - intros [H1 H2] x x' N. apply neighbours_counts in N. unfold mechanism.
    assert (0 <= delta) by (apply Rle_trans with (2 := H1); apply hockey_nonneg).
    set (n := count q x) in *. set (m := count q x') in *.
    destruct (Z.eq_dec n m) as [->|]; [rewrite hockey_equal; assumption|].
    destruct (Z.eq_dec m (n + 1)) as [->|]; [rewrite U; assumption|].
    replace n with (m + 1)%Z by lia. rewrite W. assumption.
Qed.

(** Noise with p(−z) = p(z) has the same δ in both directions. *)
Theorem one_direction_is_enough (P : pmf Z) D lambda :
  0 <= lambda -> support P = range (- D) D -> (forall z, P (- z)%Z = P z) ->
  hockey lambda (shifted 1 P) P = hockey lambda P (shifted 1 P).
Proof.
  intros L S E. unfold hockey at 2. simpl. unfold hockey. simpl. rewrite total_map, S.
  fold (sum (- D) D (fun y => positive (P (y + 1 - 1)%Z - lambda * P (y + 1)%Z))).
  fold (sum (- D) D (fun y => positive (P y - lambda * P (y - 1)%Z))).
  rewrite sum_reflect. replace (- - D)%Z with D by lia. apply sum_ext. intros z _.
  replace (- z + 1 - 1)%Z with (- z)%Z by lia. replace (- z + 1)%Z with (- (z - 1))%Z by lia.
  rewrite !E. reflexivity.
Qed.
