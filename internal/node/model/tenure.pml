/* Who may write for an instance: the tenure, its takeover, and a message on its way out.
 *
 * N processes (nodes) share one database. There is one instance, whose row in the table of tenures
 * names a node and an epoch, and one message, which a client sends under one Idempotency-Key until
 * it is accepted, by way of any node that takes itself for the owner.
 *
 * There is no time in it: a lease may end at any moment, whoever renews it, and a node may run out
 * of patience at any moment. So what holds here holds for all clocks. What the times are good for is
 * in lease.pml.
 *
 * docs/decisions/017-tenures-in-the-database.md says which code is which part. Each macro below that
 * is tested with #ifdef plants a fault: model_test.go plants each of them and sees that it is found.
 */

#ifndef N
#define N 2
#endif
#ifndef FAULTS
#define FAULTS 3 /* leases that end, hand-overs, kills, stops, cuts and answers that are lost, together */
#endif

#define NOBODY 255
#define GONE 254 /* a node that no process is any more: the one that was has another name now, or is dead */

/* ---- the database ---- */
byte row_node = NOBODY;   /* tenures.node */
byte row_epoch = 0;       /* tenures.epoch */
bool locked[N];           /* a transaction of the node has the row FOR SHARE */
bool over[N];             /* the lease of the node has been over for longer than the time of grace */
mtype = { none, pending, sent };
mtype message = none;     /* its row in messages; with it the record of its key */
byte message_id = 0;      /* its identifier on the platform */
byte keys = 0;            /* how often the keys of the device have moved on */
byte written_by = 0;      /* the epoch of the newest write that was committed */

/* ---- the platform, and the phone of the recipient ---- */
byte shown = 0;           /* the identifier of the message on the phone; another one would be a second message */
int used = 0;             /* the states of the keys that something was encrypted with */

/* ---- the client ---- */
bool accepted = false;    /* it was told that the message is accepted, and does not repeat it any more */

/* ---- the processes ---- */
mtype = { well, stopped, cut }; /* stopped: SIGSTOP; cut: from the database, which still has its transaction */
mtype state[N] = well;
bool dead[N];             /* kill -9; it may be started again */
bool stays[N];            /* it stays dead, stopped or cut off */
byte held[N] = 0;         /* the epoch under which it works for the instance; 0: it does not */
byte taking[N] = 0;       /* the epoch of a takeover that is not taken up yet */
byte leaving[N] = 0;      /* the epoch of a tenure that it has let go, and is about to end */
byte memory[N] = 0;       /* the keys as its session has them */

/* The one thing that a process does for the message at a time. It goes on under the tenure that it
 * was begun under, whatever becomes of that. */
mtype = { idle, begun, holds, writes, leaves, again, marks };
mtype job[N] = idle;
byte job_epoch[N] = 0;
byte job_keys[N] = 0;
byte job_id[N] = 0;
bool job_first[N];        /* it found no message, and is to keep it */

byte faults = 0;

#define runs(i) (!dead[i] && state[i] != stopped)
#define reaches(i) (!dead[i] && state[i] == well)

#if N == 2
#define nobody_locks (!locked[0] && !locked[1])
#define taken_elsewhere(i) (job_id[i] == job_id[1 - i])
#define others_well(i) (reaches(1 - i))
#define serving ((held[0] && row_node == 0 && row_epoch == held[0] && reaches(0)) || \
	(held[1] && row_node == 1 && row_epoch == held[1] && reaches(1)))
#else
#define nobody_locks (!locked[0] && !locked[1] && !locked[2])
#define taken_elsewhere(i) (job_id[i] == job_id[(i + 1) % 3] || job_id[i] == job_id[(i + 2) % 3])
#define others_well(i) ((i != 0 && reaches(0)) || (i != 1 && reaches(1)) || (i != 2 && reaches(2)))
#define serving ((held[0] && row_node == 0 && row_epoch == held[0] && reaches(0)) || \
	(held[1] && row_node == 1 && row_epoch == held[1] && reaches(1)) || \
	(held[2] && row_node == 2 && row_epoch == held[2] && reaches(2)))
#endif

/* An identifier is random: it is one that nothing has. */
inline choose(i) {
	job_id[i] = 1;
	do
	:: job_id[i] == message_id || job_id[i] == shown || taken_elsewhere(i) -> job_id[i]++
	:: else -> break
	od
}

/* hold_tenures: the tenure lasts, and will until the transaction ends. */
#ifdef NO_CHECK
#define lasts(i) true
#else
#ifdef NODE_ALONE
#define lasts(i) (row_node == i || row_node == GONE)
#else
#define lasts(i) ((row_node == i || row_node == GONE) && row_epoch == job_epoch[i])
#endif
#endif
#ifdef MARK_WITHOUT_CHECK
#define lasts_still(i) true
#else
#define lasts_still(i) lasts(i)
#endif
#ifdef NO_LOCK
#define LOCK(i) skip
#define has_lock(i) true
#else
#define LOCK(i) locked[i] = true
#define has_lock(i) locked[i]
#endif

/* At most one owner writes: what is committed belongs to the newest epoch, and to its node. */
inline committed(i) {
	assert((row_node == i || row_node == GONE) && row_epoch == job_epoch[i]);
	assert(job_epoch[i] >= written_by);
	written_by = job_epoch[i]
}

/* A process that has lost its lease, or is started again, is a node with another name. */
inline rename(i) { if :: row_node == i -> row_node = GONE :: else fi }

inline end_job(i) {
	job[i] = idle; job_epoch[i] = 0; job_keys[i] = 0; job_id[i] = 0; job_first[i] = false; locked[i] = false
}

/* The message leaves, encrypted with keys that nothing else was encrypted with. The phone drops what
 * has an identifier that it knows. */
inline hand(i) {
	assert(!(used & (1 << job_keys[i])));
	used = used | (1 << job_keys[i]);
	assert(shown == 0 || shown == job_id[i]);
	shown = job_id[i]
}

/* What is written before the message leaves: the keys, and the message unless it is there. */
inline keep(i) {
	committed(i);
	if
	:: job_first[i] && message == none -> message = pending; message_id = job_id[i]; keys = job_keys[i]
	:: job_first[i] && message != none -> job_first[i] = false; job_id[i] = 0 /* the key is taken: nothing is written */
	:: !job_first[i] -> keys = job_keys[i]
	fi
}

inline remember(i) { if :: held[i] == job_epoch[i] -> memory[i] = job_keys[i] :: else fi }

proctype Node(byte i) {
end:
	do
	/* ---- node.takeOver: TakeTenures, then takeUp ---- */
	:: atomic { reaches(i) && !held[i] && !taking[i] && !leaving[i] && !over[i] && nobody_locks &&
			(row_node == NOBODY || row_node == GONE || (row_node != i && over[row_node])) ->
		row_node = i;
#ifndef EPOCH_STAYS
		row_epoch++;
#else
		if :: row_epoch == 0 -> row_epoch = 1 :: else fi;
#endif
		taking[i] = row_epoch }
	:: atomic { reaches(i) && taking[i] ->
		held[i] = taking[i]; taking[i] = 0;
#ifdef MEMORY_STAYS
		if :: memory[i] == 0 -> memory[i] = keys :: else fi
#else
		memory[i] = keys
#endif
		}
	/* ---- node.renew: the lease is renewed ---- */
	:: atomic { reaches(i) && over[i] -> over[i] = false }
	/* ---- node.reconcile: a tenure that is lost, and one that nobody works under ---- */
	:: atomic { reaches(i) && held[i] && !(row_node == i && row_epoch == held[i]) -> held[i] = 0 }
#ifndef NO_RECONCILE
	:: atomic { reaches(i) && !held[i] && !taking[i] && !leaving[i] && row_node == i && nobody_locks -> row_node = NOBODY }
#endif
	/* ---- node.handOver: letGo, then EndTenures; and node.lose, which ends nothing ---- */
	:: atomic { runs(i) && held[i] && faults < FAULTS -> faults++; leaving[i] = held[i]; held[i] = 0 }
	:: atomic { runs(i) && held[i] && faults < FAULTS -> faults++; rename(i); held[i] = 0 }
	:: atomic { reaches(i) && leaving[i] && nobody_locks ->
		if
		:: row_node == i && row_epoch == leaving[i] -> row_node = NOBODY
		:: else
		fi;
		leaving[i] = 0 }
	:: atomic { runs(i) && leaving[i] && state[i] == cut -> leaving[i] = 0 } /* its end is not written */

	od
}

/* The message: messaging.Service, by a request or from the queue. */
proctype Work(byte i) {
end:
	do
	:: atomic { reaches(i) && held[i] && job[i] == idle &&
#ifdef QUEUE_FORGOTTEN
			!accepted ->
#else
			(!accepted || message == pending) ->
#endif
		job[i] = begun; job_epoch[i] = held[i]; job_keys[i] = memory[i] + 1;
#ifdef ANSWER_FIRST
		accepted = true
#endif
		}
	:: atomic { reaches(i) && job[i] == begun -> /* FindIdempotency, and what became of the message */
		if
		:: message == none -> choose(i); job_first[i] = true; job[i] = holds
#ifdef NEW_IDENTIFIER
		:: message == pending -> choose(i); job[i] = holds
#else
		:: message == pending -> job_id[i] = message_id; job[i] = holds
#endif
		:: message == sent -> accepted = true; end_job(i)
		fi;
#ifdef SEND_FIRST
		if :: job[i] == holds -> hand(i) :: else fi
#endif
		}
	:: atomic { reaches(i) && job[i] == holds -> /* store.writeUnder: hold_tenures is its first statement */
		if
		:: lasts(i) -> LOCK(i); job[i] = writes
		:: else -> end_job(i)
		fi }
	:: atomic { reaches(i) && job[i] == writes -> /* the commit */
		if
		:: !has_lock(i) -> end_job(i) /* the server has ended the transaction */
		:: has_lock(i) -> locked[i] = false;
#ifdef KEYS_LATER
			if :: job_first[i] && message == none -> committed(i); message = pending; message_id = job_id[i] :: else -> committed(i) fi;
#else
			keep(i);
#endif
			remember(i);
			if
			:: job_id[i] == 0 -> end_job(i)
			:: job_id[i] != 0 -> job[i] = leaves; accepted = true
			:: job_id[i] != 0 && faults < FAULTS -> faults++; end_job(i) /* the answer to the commit is lost */
			fi
		fi }
	:: atomic { runs(i) && job[i] == leaves -> /* session.Send */
#ifndef SEND_FIRST
		hand(i);
#endif
		if
		:: job[i] = again
		:: faults < FAULTS -> faults++; end_job(i) /* no acknowledgement */
		fi }
	:: atomic { runs(i) && job[i] == leaves && faults < FAULTS -> faults++; end_job(i) } /* the platform is away */
	:: atomic { reaches(i) && job[i] == again -> /* the same for what the platform has acknowledged */
		if
		:: lasts_still(i) -> LOCK(i); job[i] = marks
		:: else -> end_job(i)
		fi }
	:: atomic { reaches(i) && job[i] == marks ->
		if
		:: !has_lock(i) -> end_job(i)
		:: has_lock(i) -> locked[i] = false; committed(i); message = sent;
#ifdef KEYS_LATER
			keys = job_keys[i];
#endif
			end_job(i)
		fi }
	od
}

/* What can happen to processes and their connections. One of them is always well. */
inline befall(i) {
	if
	:: over[i] = true /* nobody has renewed its lease */
	:: others_well(i) && reaches(i) -> state[i] = stopped; if :: stays[i] = true :: skip fi
	:: others_well(i) && reaches(i) -> state[i] = cut; if :: stays[i] = true :: skip fi
	:: others_well(i) && reaches(i) -> /* kill -9; the server ends its transaction */
		dead[i] = true; if :: stays[i] = true :: skip fi;
		rename(i); held[i] = 0; taking[i] = 0; leaving[i] = 0; memory[i] = 0; end_job(i)
	fi
}

proctype Trouble() {
end:
	do
	:: atomic { faults < FAULTS -> faults++;
		if
		:: befall(0)
		:: befall(1)
#if N == 3
		:: befall(2)
#endif
		fi }
	/* It goes on, is connected again, or is started again. */
	:: atomic { !reaches(0) && !stays[0] -> state[0] = well; dead[0] = false }
	:: atomic { !reaches(1) && !stays[1] -> state[1] = well; dead[1] = false }
#if N == 3
	:: atomic { !reaches(2) && !stays[2] -> state[2] = well; dead[2] = false }
#endif
	od
}

/* The server of the database: a lease that nobody renews ends, and so does a transaction of a process
 * that says nothing. */
proctype Server() {
	byte i;
end:
	do
	:: atomic { (!reaches(0) && !over[0]) -> over[0] = true }
#ifndef LOCK_FOR_EVER
	:: atomic { (!reaches(0) && locked[0]) -> locked[0] = false }
#endif
	:: atomic { (!reaches(1) && !over[1]) -> over[1] = true }
#ifndef LOCK_FOR_EVER
	:: atomic { (!reaches(1) && locked[1]) -> locked[1] = false }
#endif
#if N == 3
	:: atomic { (!reaches(2) && !over[2]) -> over[2] = true }
#ifndef LOCK_FOR_EVER
	:: atomic { (!reaches(2) && locked[2]) -> locked[2] = false }
#endif
#endif
	od
}

/* Time goes on, also where nothing happens any more. */
proctype Time() {
end:
	do
	:: faults <= FAULTS /* always */
	od
}

init {
	atomic {
		run Time();
		run Node(0); run Work(0); run Node(1); run Work(1);
#if N == 3
		run Node(2); run Work(2);
#endif
		run Server(); run Trouble()
	}
}

/* If a node is alive and reaches the database, somebody works for the instance in the end, and the
 * message is accepted, on the phone, and known to be sent. */
ltl served { <> [] (serving && accepted && shown != 0 && message == sent) }
