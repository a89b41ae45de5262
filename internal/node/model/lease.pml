/* What the times of a lease are good for: while a node runs, nobody takes over what it still works for,
 * although it may not reach the database.
 *
 * N processes (nodes) share one database, and there is one instance. Time goes on in steps of five
 * seconds. A process that runs does what is due before time goes on; one that is stopped does nothing,
 * and its time passes all the same. What is asked of the database, and its answers, may take as long as
 * they take, or be lost: so does everything while a node is cut off. The times are those of node.Timing:
 * a lease of 15 s, 5 s of grace, 10 s of patience.
 *
 * docs/decisions/017-tenures-in-the-database.md says which code is which part. Each macro that is tested
 * with #ifdef plants a fault: model_test.go plants each of them and sees that it is found.
 */

#ifndef N
#define N 2
#endif
#if N == 2
#define LEASE 3
#define GRACE 1
#define TOLD 2
#else
/* Three nodes have steps of ten seconds, with which the lease is rounded down. */
#define LEASE 1
#define GRACE 1
#define TOLD 1
#endif
#ifdef PATIENCE_TOO_LONG
#define PATIENCE (LEASE + GRACE + 1)
#else
#define PATIENCE TOLD
#endif
#define OVER (LEASE + GRACE) /* later, anybody may take over */
/* Times are not counted any further than where they make a difference. */
#define LATE (OVER + 1)
#define SILENT (PATIENCE + 1)
#define NOBODY 255
#define GONE 254             /* a node that no process is any more */

byte owner = NOBODY;      /* tenures.node */
byte age[N] = LATE;       /* how long ago the lease was renewed, by the clock of the database */
byte gone_age = LATE;     /* the same of GONE */
byte silent[N] = SILENT;   /* how long ago the newest renewal was asked for that was answered, as the node counts it */
byte asked[N] = 0;        /* how long ago the one under way was asked for */
mtype = { quiet, asking, answered };
mtype renewal[N] = quiet;
bool member[N];           /* it is a node */
bool held[N];             /* it works for the instance */
bool stopped[N];

#ifdef OWN_CLOCK
/* Who takes over compares the lease with the clock of its own machine, which is ahead. */
#define is_over(age) (age + 3 > OVER)
#else
#ifdef NO_LEASE
#define is_over(age) true
#else
#define is_over(age) (age > OVER)
#endif
#endif
#define free (owner == NOBODY || (owner == GONE && is_over(gone_age)) || (owner < N && is_over(age[owner])))

#ifdef NO_WATCH
#define must_let_go(i) false
#else
#define must_let_go(i) (member[i] && silent[i] > PATIENCE)
#endif
#define works(i) (held[i] && !stopped[i])

#if N == 2
#define nothing_due ((stopped[0] || !must_let_go(0)) && (stopped[1] || !must_let_go(1)))
#define one_at_most (works(0) + works(1) <= 1)
#else
#define nothing_due ((stopped[0] || !must_let_go(0)) && (stopped[1] || !must_let_go(1)) && (stopped[2] || !must_let_go(2)))
#define one_at_most (works(0) + works(1) + works(2) <= 1)
#endif

/* node.lose: it lets go, and is a node under another name later. */
inline lose(i) {
	held[i] = false; member[i] = false; renewal[i] = quiet; asked[i] = 0; silent[i] = SILENT;
	if
	:: owner == i -> owner = GONE; gone_age = age[i]
	:: else
	fi;
	age[i] = LATE
}

proctype Node(byte i) {
end:
	do
	:: atomic { !stopped[i] && !member[i] -> member[i] = true; age[i] = 0; silent[i] = 0 } /* node.join */
	:: atomic { !stopped[i] && member[i] && renewal[i] == quiet -> renewal[i] = asking } /* node.renew */
	:: atomic { renewal[i] == asking -> age[i] = 0; renewal[i] = answered } /* the database carries it out */
	:: atomic { !stopped[i] && renewal[i] == answered -> renewal[i] = quiet;
#ifdef FROM_THE_ANSWER
		silent[i] = 0;
#else
		silent[i] = asked[i];
#endif
		asked[i] = 0 }
	:: atomic { !stopped[i] && renewal[i] != quiet -> renewal[i] = quiet; asked[i] = 0 } /* it is lost */
	:: atomic { !stopped[i] && member[i] && !held[i] && age[i] <= LEASE && owner != i && free ->
		owner = i; held[i] = true; assert(one_at_most) } /* node.takeOver */
	:: atomic { !stopped[i] && must_let_go(i) -> lose(i) }
	:: atomic { !stopped[i] && held[i] && owner == i -> held[i] = false; owner = NOBODY } /* node.handOver */
	:: atomic { !stopped[i] && held[i] && owner != i -> held[i] = false } /* node.reconcile */
	:: atomic { !stopped[i] -> stopped[i] = true }
	/* It goes on. What was due meanwhile is the first thing that it does; until then only the tenure keeps
	 * it from harm. */
	:: atomic { stopped[i] -> stopped[i] = false;
		if :: must_let_go(i) -> lose(i) :: else fi;
		assert(one_at_most) }
	od
}

inline older(x, most) { if :: x < most -> x++ :: else fi }

proctype Time() {
end:
	do
	:: atomic { nothing_due ->
		older(age[0], LATE); older(silent[0], SILENT); older(age[1], LATE); older(silent[1], SILENT); older(gone_age, LATE);
		if :: renewal[0] != quiet -> older(asked[0], SILENT) :: else fi;
		if :: renewal[1] != quiet -> older(asked[1], SILENT) :: else fi;
#if N == 3
		older(age[2], LATE); older(silent[2], SILENT);
		if :: renewal[2] != quiet -> older(asked[2], SILENT) :: else fi;
#endif
		}
	od
}

init {
	atomic {
		run Node(0); run Node(1);
#if N == 3
		run Node(2);
#endif
		run Time()
	}
}
