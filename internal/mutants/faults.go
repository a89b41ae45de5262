package main

import "slices"

// faults returns the table of all faults. There is at least one for every promise of
// docs/reliability.md, for the order in which the API checks requests, and for every limit
// that hostile input must not exceed.
func faults() []fault {
	return slices.Concat(
		reliabilityFaults(), hostileFaults(), silenceFaults(),
	)
}

const (
	serverTests    = "./internal/server"
	hostileTests   = "./internal/hostile"
	whatsappTests  = "./internal/whatsapp"
	wireTests      = "./internal/whatsapp/wire"
	keysTests      = "./internal/whatsapp/keys"
	transportTests = "./internal/whatsapp/transport"
	versionTests   = "./internal/whatsapp/version"
	messagingTests = "./internal/messaging"
	storeTests     = "./internal/store"
	archiveTests   = "./internal/archive"
	copyingTests   = "./internal/copying"
	webhookTests   = "./internal/webhook"
)

// reliabilityFaults break what docs/reliability.md promises.
func reliabilityFaults() []fault {
	return []fault{
		{
			name: "keys of a send wait for the disk", file: "internal/whatsapp/keys/session.go",
			old: "	if err := k.rows.flush(ctx, nil); err != nil {\n		return err\n	}\n", new: "",
			test: keysTests, run: "FailedWriteStopsASend",
		},
		{
			name: "keys that are given away wait for the disk", file: "internal/whatsapp/keys/pre_key.go",
			old: "return fresh, k.rows.flush(ctx, nil)", new: "return fresh, nil",
			test: keysTests, run: "FailedWriteStopsASend",
		},
		{
			name: "a decryption is not written before its message", file: "internal/whatsapp/keys/decryption.go",
			old: "	return k.rows.note(ctx, k.adopt(d))", new: "	if err := k.adopt(d); err != nil {\n		return k.rows.note(ctx, err)\n	}\n	return k.rows.flush(ctx, d.message)",
			test: keysTests, run: "DecryptionIsHeldBack",
		},
		{
			name: "a send leaves no message unreadable", file: "internal/whatsapp/keys/rows.go",
			old: "if message != w.kept && !message.saved && !message.kept {", new: "if false {",
			test: keysTests, run: "SendWritesWhatIsNotKept",
		},
		{
			name: "keys are written before the acknowledgement", file: "internal/whatsapp/keys/decryption.go",
			old: "	if !written {", new: "	if !written && false {",
			test: keysTests, run: "KeysAreWrittenBeforeTheAcknowledgement",
		},
		{
			name: "old keys are not written over newer ones", file: "internal/whatsapp/keys/keys.go",
			old: "	if before != nil {\n		before.rows.close()\n	}\n	return own, nil", new: "	_ = before\n	return own, nil",
			test: keysTests, run: "EarlierSessionWritesNothing",
		},
		{
			name: "a message that was sent does not fail", file: "internal/messaging/send.go",
			old: "		if m.Status != gateway.MessagePending {", new: "		if false {",
			test: serverTests, run: "AcknowledgedMessageDoesNotFail",
		},
		{
			name: "what is not kept is not acknowledged", file: "internal/whatsapp/receive.go",
			old: "	s.giveUp()\n	return false\n}\n\n// callHandler", new: "	return true\n}\n\n// callHandler",
			test: whatsappTests, run: "Kept|Refused",
		},
		{
			name: "a second delivery changes nothing", file: "internal/store/message.go",
			old: ` AND wire_key = $19)"`, new: ` AND wire_key = $19 AND id = $1)"`,
			test: storeTests, run: "SQLite",
		},
		{
			name: "a message is kept before it is sent", file: "internal/messaging/send.go",
			old:  "	kept := s.config.Store.AcceptMessage(ctx, message, request.Repeat.record(message.ID, message.InstanceID, message.CreatedAt))\n	result, err := s.transmit(ctx, session, message, kept)",
			new:  "	result, err := s.transmit(ctx, session, message, nil)\n	if err == nil {\n		err = s.config.Store.AcceptMessage(ctx, message, request.Repeat.record(message.ID, message.InstanceID, message.CreatedAt))()\n	}",
			test: serverTests, run: "Send|Repeat|Acknowledge",
		},
		{
			name: "a message that could not be kept is not sent", file: "internal/whatsapp/keys/session.go",
			old: "	if send != nil && send.ready != nil {", new: "	if send != nil && send.ready != nil && false {",
			test: whatsappTests, run: "NothingIsSentThatIsNotKept",
		},
		{
			name: "a change is kept before it is sent", file: "internal/messaging/change.go",
			old: "	if err := s.config.Store.AcceptChange(ctx, sent); err != nil {\n		return err\n	}\n", new: "",
			test: serverTests, run: "Change",
		},
		{
			name: "a status moves only forward", file: "internal/messaging/status.go",
			old: "	moved := message.Status < to", new: "	moved := message.Status != to",
			test: messagingTests, run: "Receipts",
		},
		{
			name: "a connection on which the platform is silent is given up", file: "internal/whatsapp/keepalive/keepalive.go",
			old: "if p.silent == silences {", new: "if p.silent < 0 {",
			test: "./internal/whatsapp/keepalive", run: "SilentConnection",
		},
		{
			name: "one write that fails spoils no other", file: "internal/groupcommit/groupcommit.go",
			old: "	if err != nil && spoiled && len(batch) > 1 {", new: "	if err != nil && spoiled && len(batch) > maxBatch {",
			test: "./internal/groupcommit", run: "OneFailure",
		},
		{
			name: "a panic gives the leader's place back", file: "internal/groupcommit/groupcommit.go",
			old: "			spoiled, err = false, fmt.Errorf(", new: "			panic(failure)\n			spoiled, err = false, fmt.Errorf(",
			test: "./internal/groupcommit", run: "Panic",
		},
		{
			name: "an error at the commit is one write's own", file: "internal/postgres/tx.go",
			old: "	if err != nil && t.undone() {", new: "	if err != nil && !t.undone() {",
			test: "./internal/postgres", run: "ErrorReachesItsWrite",
		},
		{
			name: "a connection with open rows is closed", file: "internal/postgres/tx.go",
			old: "	idle := !t.conn.PgConn().IsBusy()", new: "	idle := true",
			test: "./internal/postgres", run: "NothingStaysOpen",
		},
		{
			name: "a second delivery has no events", file: "internal/store/commit_lane.go",
			old: "		AND (n.message_id = '' OR EXISTS (", new: "		AND (n.message_id <> '.' OR EXISTS (",
			test: storeTests, run: "PostgreSQL/messages",
		},
		{
			name: "a message that fails is not remembered", file: "internal/store/recent/recent.go",
			old: "	w.forget(s)\n	w.steps = ", new: "	if w.forget(s); s.keep {\n		w.messages.byName.Add(name{w.instanceID, s.platformID}, s.message)\n	}\n	w.steps = ",
			test: storeTests, run: "MemoryIsWhatTheDatabaseHas",
		},
		{
			name: "an echo ends what is remembered", file: "internal/store/message.go",
			old: "		r.recent.Touched(message.PlatformID)\n", new: "",
			test: storeTests, run: "SQLite",
		},
		{
			name: "what is removed is not remembered", file: "internal/store/message_retention.go",
			old: "		r.recent.TouchedAll()\n", new: "",
			test: storeTests, run: "SQLite",
		},
		{
			name: "a message that was just sent is not read", file: "internal/store/message_update.go",
			old: "found := remembered(r, ids); len(found) > 0", new: "found := remembered(r, ids); len(found) > len(ids)",
			test: storeTests, run: "SentMessageIsNotRead",
		},
		{
			name: "one process a database", file: "internal/store/claim/claim.go",
			old: "	if err == nil && !taken {", new: "	if false {",
			test: "./internal/store/claim", run: "Claim",
		},
	}
}

// hostileFaults let through what strangers may send.
func hostileFaults() []fault {
	return []fault{
		{
			name: "content is cleaned", file: "internal/whatsapp/wire/message.go",
			old: "	if small := CleanContent(sent); !small {", new: "	if false {",
			test: hostileTests, run: "HostileMessages",
		},
		{
			name: "names are cleaned", file: "internal/gateway/party.go",
			old: "	p.Name = CleanName(p.Name)\n", new: "",
			test: hostileTests, run: "HostileName",
		},
		{
			name: "identifiers are bounded", file: "internal/gateway/clean.go",
			old: "	if len(id) <= MaxID && utf8.ValidString(id)", new: "	if utf8.ValidString(id)",
			test: "./internal/gateway", run: "CleanID",
		},
		{
			name: "identifiers of messages are cleaned", file: "internal/gateway/message.go",
			old: "	m.WireKey = CleanID(m.WireKey)\n", new: "",
			test: hostileTests, run: "HostileMessages",
		},
		{
			name: "numbers that are none are cleaned", file: "internal/whatsapp/wire/clean.go",
			old: "		return protoreflect.ValueOfFloat64(0), !isNumber(value.Float())", new: "		return value, false",
			test: wireTests, run: "CleanContent",
		},
		{
			name: "what the database refuses leaves a placeholder", file: "internal/messaging/receiver.go",
			old: "	if errors.Is(err, gateway.ErrUnstorable) && from.what != \"\" {", new: "	if false {",
			test: messagingTests, run: "Unstorable",
		},
		{
			name: "a refused value is known by its code", file: "internal/sqlerror/sqlerror.go",
			old: "strings.HasPrefix(failure.Code, dataExceptionClass)", new: `strings.HasPrefix(failure.Code, "99")`,
			test: "./internal/sqlerror", run: "IsData",
		},
		{
			name: "only an administrator deletes what others sent", file: "internal/messaging/receive_change.go",
			old: " && change.ByAdmin", new: "",
			test: hostileTests, run: "AuthorityInGroups",
		},
		{
			name: "an administrator is one by the group", file: "internal/whatsapp/change.go",
			old: "types.EditAttributeAdminRevoke && s.isAdmin(change.Chat.JID, change.By)", new: "types.EditAttributeAdminRevoke",
			test: hostileTests, run: "AuthorityInGroups",
		},
		{
			name: "a refused change is not reported", file: "internal/messaging/receive_change.go",
			old: "			if len(found) > 0 {", new: "			if false {",
			test: hostileTests, run: "Authority",
		},
		{
			name: "a receipt counts for its own chat", file: "internal/messaging/receive_receipt.go",
			old: "			return named(m) && m.FromMe && sameChat(m.Chat, receipt.Chat)", new: "			return named(m) && m.FromMe",
			test: hostileTests, run: "AuthorityBetweenChats",
		},
		{
			name: "a receipt counts only from a member", file: "internal/whatsapp/receipt.go",
			old: "	if event.Chat.Server == types.GroupServer && !s.mayBeMember(", new: "	if false && !s.mayBeMember(",
			test: hostileTests, run: "ReceiptOfNoMember",
		},
		{
			name: "a download ends at the limit", file: "internal/whatsapp/transport/limited_file.go",
			old: "	if at+int64(len(p)) > f.limit {", new: "	if at+int64(len(p)) > 1<<40 {",
			test: serverTests, run: "MediaHostMisbehaves",
		},
	}
}

// silenceFaults wait for ever when the other side is silent.
func silenceFaults() []fault {
	return []fault{
		{
			name: "closing waits for no connection attempt", file: "internal/whatsapp/connect.go",
			old: "		limit.Reset(abandonWait)\n", new: "		limit.Stop()\n",
			test: serverTests, run: "SilentPlatformHoldsNoCommand",
		},
		{
			name: "a silent platform is given up", file: "internal/whatsapp/connect.go",
			old: "	case <-limit.C:\n		s.endConnection()\n	}", new: "	}",
			test: serverTests, run: "SilentPlatformIsGivenUp",
		},
		{
			name: "a silent media host is given up", file: "internal/whatsapp/transport/silence.go",
			old: "func() { end(ErrSilent) }", new: "func() {}",
			test: transportTests, run: "SilenceGuard",
		},
		{
			name: "no network is waited for with the ratchet held", file: "internal/whatsapp/keys/session.go",
			old: "		send.letGo(addresses)\n", new: "		_ = send\n",
			test: keysTests, run: "SendLetsGoOfTheRatchet",
		},
		{
			name: "a session that was moved is not written back", file: "internal/whatsapp/keys/sending.go",
			old: "	if stale {\n		return errSessionMoved", new: "	if stale && false {\n		return errSessionMoved",
			test: keysTests, run: "SendLetsGoOfTheRatchet",
		},
		{
			name: "an instance is deleted in slices", file: "internal/store/instance.go",
			old: "func() (int64, error) { return s.execOf(ctx, id, query, id, sliceRows) }", new: "func() (int64, error) { return s.execOf(ctx, id, query, id, 1_000_000) }",
			test: storeTests, run: "DeleteInstanceInSlices",
		},
		{
			name: "people are not looked up within a transaction", file: "internal/messaging/event.go",
			old:  "	if !known {\n		d.missing = append(d.missing, message)\n		return eventlog.Event{}, errNotDescribed\n	}",
			new:  "	if !known {\n		var err error\n		if details, err = r.encoder.Describe(context.Background(), message.Payload); err != nil {\n			return eventlog.Event{}, err\n		}\n	}",
			test: messagingTests, run: "Receipts",
		},
		{
			name: "a slow flush holds no other webhook", file: "internal/webhook/flush.go",
			old: "	return f.save(ctx, limit, free...)\n", new: "	f.service.loading.Lock()\n	defer f.service.loading.Unlock()\n	return f.save(ctx, limit, free...)\n",
			test: webhookTests, run: "SlowProgress",
		},
		{
			name: "a webhook loads by bytes", file: "internal/webhook/backlog/backlog.go",
			old: "	return b.loaded < maxLoaded && b.loadedBytes < MaxLoadedBytes && ", new: "	return b.loaded < maxLoaded && ",
			test: "./internal/webhook/backlog", run: "Backlog",
		},
		{
			name: "a long read ends with its context", file: "internal/sqlite/prepared.go",
			old: "	return stmt.QueryRowContext(ctx, args...)\n}\n\n// uncut", new: "	return stmt.QueryRowContext(uncut(ctx), args...)\n}\n\n// uncut",
			test: storeTests, run: "ScansEnd",
		},
	}
}
