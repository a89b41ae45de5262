// Faults in the queue of messages.

package main

func queueFaults() []fault {
	const lane, tests = "internal/messaging/queue/lane.go", serverTests
	return []fault{
		{
			name: "a message is in the queue before it is accepted", file: "internal/messaging/queue/queue.go",
			old: "	err := q.config.Store.AddQueued(ctx, message, record)\n", new: "	err := error(nil)\n",
			test: tests, run: "QueueKeepsMessages/SQLite",
		},
		{
			name: "messages from the queue keep their order", file: lane,
			old: "		if it.unkept || of.busy || of.until.After(now) {", new: "		if it.unkept || of.until.After(now) {",
			test: tests, run: "QueueKeepsMessages/SQLite",
		},
		{
			name: "a message waits until it is due", file: lane,
			old: "		if it.DueAt.After(now) {", new: "		if false {",
			test: tests, run: "QueueSchedules",
		},
		{
			name: "the queue keeps the pace", file: lane,
			old: "	at := l.pace.next(pace, now.Add(typing))", new: "	at := l.pace.next(gateway.Pace{NewChats: pace.NewChats}, now.Add(typing))",
			test: tests, run: "QueueKeepsThePace",
		},
		{
			name: "the queue begins only so many chats", file: lane,
			old: "	if begins && l.holdChat(it, budget) {", new: "	if false && l.holdChat(it, budget) {",
			test: tests, run: "QueueHoldsNewChats",
		},
		{
			name: "new chats are counted over a restart", file: lane,
			old:  "		if known.newChats, err = q.config.Store.NewChatsSince(ctx, l.instanceID, now.Add(-newChatsKept)); err != nil {",
			new:  "		if _, err = q.config.Store.NewChatsSince(ctx, l.instanceID, now.Add(-newChatsKept)); err != nil {",
			test: tests, run: "QueueHoldsNewChats",
		},
		{
			name: "what the platform refuses for good leaves the queue", file: "internal/messaging/queue/outcome.go",
			old: "	case gateway.Invalid, gateway.NotFound, gateway.TooLarge:\n		return failed", new: "	case gateway.TooLarge:\n		return failed",
			test: "./internal/messaging/queue", run: "Judge",
		},
		{
			name: "a message of the queue is not given up while it is there", file: "internal/store/message_update.go",
			old: "WHERE queued_messages.id = messages.id)", new: "WHERE queued_messages.id = messages.platform_id)",
			test: storeTests, run: "SQLite",
		},
	}
}
