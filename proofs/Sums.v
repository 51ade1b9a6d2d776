(** Finite sums of reals. *)

From Coq Require Import Reals ZArith List Permutation Lra Lia Bool.
Import ListNotations.
Local Open Scope R_scope.

(** The sum of f over a list. *)
Fixpoint total {T} (l : list T) (f : T -> R) : R :=
  match l with
  | [] => 0
  | y :: rest => f y + total rest f
  end.

(** This many integers, from a on. *)
Fixpoint from (a : Z) (count : nat) : list Z :=
  match count with
  | O => []
  | S rest => a :: from (a + 1) rest
  end.

(** The integers from a to b. *)
Definition range (a b : Z) : list Z := from a (Z.to_nat (b + 1 - a)).

(** The sum of f over the integers from a to b, also written Sum (a <= z <= b) f z. *)
Definition sum (a b : Z) (f : Z -> R) : R := total (range a b) f.

Notation "'Sum' ( a <= z <= b ) f" := (sum a b (fun z => f))
  (at level 36, a at level 69, z name, b at level 69, f at level 35,
   format "'Sum'  ( a  <=  z  <=  b )  f") : R_scope.

(** ** Lists *)

Section Lists.
Context {T : Type}.
Implicit Types (l : list T) (f g : T -> R).

Lemma total_ext l f g : (forall y, In y l -> f y = g y) -> total l f = total l g.
Proof.
  induction l as [|y l IH]; simpl; intros H; [reflexivity|].
  rewrite H by auto. rewrite IH; auto.
Qed.

Lemma total_zero l f : (forall y, In y l -> f y = 0) -> total l f = 0.
Proof.
  induction l as [|y l IH]; simpl; intros H; [reflexivity|].
  rewrite H by auto. rewrite IH by auto. ring.
Qed.

Lemma total_plus l f g : total l (fun y => f y + g y) = total l f + total l g.
Proof. induction l as [|y l IH]; simpl; [ring|rewrite IH; ring]. Qed.

Lemma total_scal l c f : total l (fun y => c * f y) = c * total l f.
Proof. induction l as [|y l IH]; simpl; [ring|rewrite IH; ring]. Qed.

Lemma total_minus l f g : total l (fun y => f y - g y) = total l f - total l g.
Proof. induction l as [|y l IH]; simpl; [ring|rewrite IH; ring]. Qed.

Lemma total_le l f g : (forall y, In y l -> f y <= g y) -> total l f <= total l g.
Proof.
  induction l as [|y l IH]; simpl; intros H; [lra|].
  apply Rplus_le_compat; auto.
Qed.

Lemma total_nonneg l f : (forall y, In y l -> 0 <= f y) -> 0 <= total l f.
Proof.
  intros H. replace 0 with (total l (fun _ => 0)) by (apply total_zero; auto).
  apply total_le. exact H.
Qed.

Lemma total_lt l f g y0 :
  In y0 l -> (forall y, In y l -> f y <= g y) -> f y0 < g y0 -> total l f < total l g.
Proof.
  induction l as [|y l IH]; simpl; intros I H L; [contradiction|].
  destruct I as [->|I].
  - apply Rplus_lt_le_compat; [exact L|]. apply total_le; auto.
  - apply Rplus_le_lt_compat; [auto|]. apply IH; auto.
Qed.

Lemma total_term l f y0 : In y0 l -> (forall y, In y l -> 0 <= f y) -> f y0 <= total l f.
Proof.
  induction l as [|y l IH]; simpl; intros I H; [contradiction|].
  destruct I as [->|I].
  - assert (0 <= total l f) by (apply total_nonneg; auto). lra.
  - assert (f y0 <= total l f) by auto. assert (0 <= f y) by auto. lra.
Qed.

Lemma total_app l l' f : total (l ++ l') f = total l f + total l' f.
Proof. induction l as [|y l IH]; simpl; [ring|rewrite IH; ring]. Qed.

Lemma total_perm l l' f : Permutation l l' -> total l f = total l' f.
Proof. induction 1; simpl; lra. Qed.

Definition nonzero f (y : T) : bool := if Req_EM_T (f y) 0 then false else true.

Lemma total_nonzero l f : total (filter (nonzero f) l) f = total l f.
Proof.
  induction l as [|y l IH]; simpl; [reflexivity|].
  unfold nonzero at 1. destruct (Req_EM_T (f y) 0) as [E|E]; simpl; rewrite IH, ?E; ring.
Qed.

(** Two lists without repetition that both hold all places where f is not 0 give one sum. *)
Lemma total_support l l' f :
  NoDup l -> NoDup l' -> (forall y, f y <> 0 -> (In y l <-> In y l')) -> total l f = total l' f.
Proof.
  intros N N' H. rewrite <- (total_nonzero l), <- (total_nonzero l').
  apply total_perm, NoDup_Permutation; try (apply NoDup_filter; assumption).
  intros y. rewrite !filter_In. unfold nonzero. destruct (Req_EM_T (f y) 0) as [E|E].
  - intuition discriminate.
  - rewrite (H y E). reflexivity.
Qed.


Lemma total_map {U} (h : U -> T) (l : list U) f : total (map h l) f = total l (fun y => f (h y)).
Proof. induction l as [|y l IH]; simpl; [reflexivity|rewrite IH; reflexivity]. Qed.

Lemma total_flat_map {U} (h : U -> list T) (l : list U) f :
  total (flat_map h l) f = total l (fun y => total (h y) f).
Proof. induction l as [|y l IH]; simpl; [reflexivity|rewrite total_app, IH; reflexivity]. Qed.

Lemma total_scal_r l f c : total l (fun y => f y * c) = total l f * c.
Proof. induction l as [|y l IH]; simpl; [ring|rewrite IH; ring]. Qed.

End Lists.

Lemma total_swap {T U} (l : list T) (m : list U) (f : T -> U -> R) :
  total l (fun y => total m (fun z => f y z)) = total m (fun z => total l (fun y => f y z)).
Proof.
  induction l as [|y l IH]; simpl.
  - symmetry. apply total_zero. reflexivity.
  - rewrite IH, <- total_plus. reflexivity.
Qed.

(** ** Ranges *)

Lemma in_from a n z : In z (from a n) <-> (a <= z < a + Z.of_nat n)%Z.
Proof.
  revert a. induction n as [|n IH]; intros a; simpl from.
  - simpl. lia.
  - simpl In. rewrite IH. lia.
Qed.

Lemma in_range a b z : In z (range a b) <-> (a <= z <= b)%Z.
Proof. unfold range. rewrite in_from. lia. Qed.

Lemma NoDup_range a b : NoDup (range a b).
Proof.
  unfold range. generalize (Z.to_nat (b + 1 - a)) as n. intros n. revert a.
  induction n as [|n IH]; intros a; simpl; constructor; auto.
  rewrite in_from. lia.
Qed.

Lemma from_shift k a n : from (a + k) n = map (fun z => (z + k)%Z) (from a n).
Proof.
  revert a. induction n as [|n IH]; intros a; simpl; [reflexivity|].
  f_equal. rewrite <- IH. f_equal. lia.
Qed.

Lemma range_first a b : (a <= b)%Z -> range a b = a :: range (a + 1) b.
Proof.
  intros H. unfold range.
  replace (Z.to_nat (b + 1 - a)) with (S (Z.to_nat (b + 1 - (a + 1)))) by lia. reflexivity.
Qed.

Lemma from_last a n : from a (S n) = from a n ++ [(a + Z.of_nat n)%Z].
Proof.
  revert a. induction n as [|n IH]; intros a.
  - simpl. f_equal. lia.
  - change (from a (S (S n))) with (a :: from (a + 1) (S n)). rewrite IH. simpl. do 2 f_equal.
    f_equal. lia.
Qed.

Lemma range_last a b : (a <= b)%Z -> range a b = range a (b - 1) ++ [b].
Proof.
  intros H. unfold range.
  replace (Z.to_nat (b + 1 - a)) with (S (Z.to_nat (b - 1 + 1 - a))) by lia.
  rewrite from_last. do 2 f_equal. lia.
Qed.

Lemma sum_empty a b f : (b < a)%Z -> sum a b f = 0.
Proof.
  intros H. unfold sum, range. replace (Z.to_nat (b + 1 - a)) with O by lia. reflexivity.
Qed.

Lemma sum_first a b f : (a <= b)%Z -> sum a b f = f a + sum (a + 1) b f.
Proof. intros H. unfold sum. rewrite range_first by assumption. reflexivity. Qed.

Lemma sum_last a b f : (a <= b)%Z -> sum a b f = sum a (b - 1) f + f b.
Proof.
  intros H. unfold sum. rewrite range_last by assumption. rewrite total_app. simpl. ring.
Qed.

Lemma sum_one a f : sum a a f = f a.
Proof. rewrite sum_first by lia. rewrite sum_empty by lia. ring. Qed.

Lemma sum_ext a b f g : (forall z, (a <= z <= b)%Z -> f z = g z) -> sum a b f = sum a b g.
Proof. intros H. apply total_ext. intros z I. apply H, in_range, I. Qed.

Lemma sum_zero a b f : (forall z, (a <= z <= b)%Z -> f z = 0) -> sum a b f = 0.
Proof. intros H. apply total_zero. intros z I. apply H, in_range, I. Qed.

Lemma sum_le a b f g : (forall z, (a <= z <= b)%Z -> f z <= g z) -> sum a b f <= sum a b g.
Proof. intros H. apply total_le. intros z I. apply H, in_range, I. Qed.

Lemma sum_lt a b f g z0 :
  (a <= z0 <= b)%Z -> (forall z, (a <= z <= b)%Z -> f z <= g z) -> f z0 < g z0 -> sum a b f < sum a b g.
Proof.
  intros I H L. apply total_lt with z0; auto.
  - apply in_range, I.
  - intros z J. apply H, in_range, J.
Qed.

Lemma sum_nonneg a b f : (forall z, (a <= z <= b)%Z -> 0 <= f z) -> 0 <= sum a b f.
Proof. intros H. apply total_nonneg. intros z I. apply H, in_range, I. Qed.

Lemma sum_term a b f z : (a <= z <= b)%Z -> (forall z, (a <= z <= b)%Z -> 0 <= f z) -> f z <= sum a b f.
Proof.
  intros I H. apply total_term; [apply in_range, I|]. intros y J. apply H, in_range, J.
Qed.

Lemma sum_plus a b f g : sum a b (fun z => f z + g z) = sum a b f + sum a b g.
Proof. apply total_plus. Qed.

Lemma sum_minus a b f g : sum a b (fun z => f z - g z) = sum a b f - sum a b g.
Proof. apply total_minus. Qed.

Lemma sum_scal a b c f : sum a b (fun z => c * f z) = c * sum a b f.
Proof. apply total_scal. Qed.

Lemma from_app a n k : from a (n + k) = from a n ++ from (a + Z.of_nat n) k.
Proof.
  revert a. induction n as [|n IH]; intros a; simpl.
  - f_equal. lia.
  - f_equal. rewrite IH. do 2 f_equal. lia.
Qed.

Lemma sum_swap a b c d (f : Z -> Z -> R) :
  sum a b (fun z => sum c d (fun t => f z t)) = sum c d (fun t => sum a b (fun z => f z t)).
Proof. apply total_swap. Qed.

Lemma sum_split a m b f : (a <= m + 1)%Z -> (m <= b)%Z -> sum a b f = sum a m f + sum (m + 1) b f.
Proof.
  intros H1 H2. unfold sum. rewrite <- total_app. f_equal. unfold range.
  replace (Z.to_nat (b + 1 - a)) with (Z.to_nat (m + 1 - a) + Z.to_nat (b + 1 - (m + 1)))%nat by lia.
  rewrite from_app. do 2 f_equal. lia.
Qed.

Lemma sum_shift k a b f : sum (a + k) (b + k) f = sum a b (fun z => f (z + k)%Z).
Proof.
  unfold sum, range. replace (b + k + 1 - (a + k))%Z with (b + 1 - a)%Z by lia.
  rewrite from_shift, total_map. reflexivity.
Qed.

(** All places where f is not 0 are in both ranges. *)
Lemma sum_support a b a' b' f :
  (forall z, f z <> 0 -> ((a <= z <= b)%Z <-> (a' <= z <= b')%Z)) -> sum a b f = sum a' b' f.
Proof.
  intros H. apply total_support; try apply NoDup_range.
  intros z E. rewrite !in_range. apply H, E.
Qed.

Lemma sum_reflect a b f : sum a b f = sum (- b) (- a) (fun z => f (- z)%Z).
Proof.
  assert (G : forall n a, sum a (a + Z.of_nat n - 1) f
    = sum (- (a + Z.of_nat n - 1)) (- a) (fun z => f (- z)%Z)).
  { induction n as [|n IH]; intros c.
    - rewrite !sum_empty by lia. reflexivity.
    - rewrite sum_first by lia. rewrite (sum_last _ (- c)) by lia.
      replace (c + Z.of_nat (S n) - 1)%Z with ((c + 1) + Z.of_nat n - 1)%Z by lia.
      rewrite IH. replace (- c - 1)%Z with (- (c + 1))%Z by lia.
      replace (- - c)%Z with c by lia. ring. }
  destruct (Z_le_gt_dec a b) as [H|H].
  - replace b with (a + Z.of_nat (Z.to_nat (b + 1 - a)) - 1)%Z by lia. apply G.
  - rewrite !sum_empty by lia. reflexivity.
Qed.

(** A sum over [-D, D] of an even function. *)
Lemma sum_even D f :
  (0 <= D)%Z -> (forall z, f (- z)%Z = f z) -> sum (- D) D f = f 0%Z + 2 * sum 1 D f.
Proof.
  intros H E. rewrite (sum_split (- D) (-1) D) by lia. simpl (-1 + 1)%Z.
  rewrite (sum_reflect (- D)). rewrite (sum_first 0) by lia. simpl (- -1)%Z. simpl (0 + 1)%Z.
  replace (- - D)%Z with D by lia. rewrite (sum_ext _ _ _ f) by (intros; apply E). ring.
Qed.

(** A sum over [-D, D] of an odd function. *)
Lemma sum_odd D f : (forall z, f (- z)%Z = - f z) -> sum (- D) D f = 0.
Proof.
  intros O. assert (H := sum_reflect (- D) D f). replace (- - D)%Z with D in H by lia.
  rewrite (sum_ext _ _ (fun z => f (- z)%Z) (fun z => (-1) * f z)) in H by (intros; rewrite O; ring).
  rewrite sum_scal in H. lra.
Qed.
