// Faults in reading: chats, their messages, and the search.

package main

func chatFaults() []fault {
	const write, run = "internal/store/chattable/write.go", "TestSQLite/chats"
	const contactTests = "./internal/whatsapp/contacts"
	return []fault{
		{
			name: "a username comes with a message", file: "internal/whatsapp/message.go",
			old: "		said = attrs.OptionalString(\"username\")", new: "		said = \"\"",
			test: serverTests, run: "UsernamesComeWithMessages",
		},
		{
			name: "a username belongs to one message", file: "internal/whatsapp/caches/usernames.go",
			old: "	u.names.Remove(of)", new: "	_ = of",
			test: "./internal/whatsapp/caches", run: "Usernames",
		},
		{
			name: "a username comes with the address book", file: "internal/whatsapp/contact.go",
			old: "contacts.Username(event.Action.GetUsername()); username", new: "\"\"; username",
			test: serverTests, run: "TestContacts$",
		},
		{
			name: "a username that is gone is not listed", file: "internal/whatsapp/contacts/username.go",
			old: "range addresses {", new: "range addresses[:0] {",
			test: serverTests, run: "TestContacts$",
		},
		{
			name: "a username is one", file: "internal/whatsapp/contacts/username.go",
			old: "strings.ContainsFunc(name, func(c rune) bool { return !allowed(c) })", new: "strings.ContainsFunc(name, func(c rune) bool { return !allowed(c) && c != ' ' && c < 128 })",
			test: "./internal/whatsapp/contacts", run: "UsernameIn",
		},
		{
			name: "a second delivery is not unread twice", file: write,
			old: " AND EXISTS (SELECT 1 FROM messages WHERE id = $2)`", new: "`",
			test: storeTests, run: run,
		},
		{
			name: "two chats of one person are joined", file: write,
			old: `		{"UPDATE messages SET chat_id = $1 WHERE chat_id = $2", []any{kept.id, gone.id}},` + "\n", new: "",
			test: storeTests, run: run,
		},
		{
			name: "the time for disappearing is forgotten when it changes", file: "internal/store/chattable/arrange.go",
			old: "if after.Disappearing != chosen.Before.Disappearing {", new: "if after.Disappearing < 0 {",
			test: storeTests, run: run,
		},
		{
			name: "joined chats keep their time for disappearing", file: write,
			old: "disappearing = CASE WHEN disappearing <> 0 THEN disappearing ELSE $9 END", new: "disappearing = CASE WHEN $9 > 0 THEN disappearing ELSE disappearing END",
			test: storeTests, run: run,
		},
		{
			name: "a chat that was joined is not known by its old id", file: write,
			old: "	for _, jid := range append(jids, \"\") {", new: "	for _, jid := range jids[:0] {",
			test: storeTests, run: run,
		},
		{
			name: "what was edited is found by its new words", file: "internal/store/message_update.go",
			old: "		return r.chats.Reworded(ctx, r, written(before, after))\n", new: "		return nil\n",
			test: storeTests, run: run,
		},
		{
			name: "what came just now is found", file: "internal/store/chattable/index_sqlite.go",
			old: "		if haveAll(wordsOf(message.text), words) {", new: "		if false {",
			test: storeTests, run: run,
		},
		{
			name: "rowids that are given again are put into the index", file: "internal/store/chattable/index_sqlite.go",
			old: "WHERE through > newest.place", new: "WHERE through < 0",
			test: storeTests, run: run,
		},
		{
			name: "an answer of the phone that nobody has asked for is left out", file: "internal/whatsapp/older/older.go",
			old: " || !q.isAbout(message.Chat) ||", new: " ||",
			test: "./internal/whatsapp/older", run: "Take",
		},
		{
			name: "what is older stands before what was known", file: "internal/whatsapp/older/older.go",
			old: "		next = taken[n].CreatedAt\n", new: "		next = time.Now()\n",
			test: serverTests, run: "OlderMessages",
		},
		{
			name: "a message that was read is not unread", file: "internal/messaging/change.go",
			old: "Chat: message.Chat, ReadIDs: []string{message.PlatformID}, At", new: "Chat: message.Chat, At",
			test: serverTests, run: "ChatsAreRead",
		},
		{
			name: "a change of a chat is reported once", file: "internal/whatsapp/chatstate/chatstate.go",
			old: "	_, own := c.echoes[of]\n", new: "	_, own := c.echoes[of]\n	own = !own\n",
			test: serverTests, run: "ChatsAreArranged",
		},
		{
			name: "what is archived is pinned no more", file: "internal/chat/change.go",
			old: "			change.Pinned = new(false)", new: "			change.Pinned = nil",
			test: serverTests, run: "ChatsAreArranged",
		},
		{
			name: "what was arranged before the link causes no event", file: "internal/whatsapp/chatstate/arrived.go",
			old: "arrived.initial && arrived.at.Before(c.since)", new: "false",
			test: serverTests, run: "ChatsAreArrangedBeforeTheLink",
		},
		{
			name: "reading on the phone counts", file: "internal/whatsapp/receipt.go",
			old: "		return s.readElsewhere(event)\n", new: "		return true\n",
			test: serverTests, run: "ChatsAreArranged",
		},
		{
			name: "a chat is gone with its last message alone", file: "internal/store/chattable/arrange.go",
			old: "AND NOT EXISTS (SELECT 1 FROM messages WHERE chat_id = $2) RETURNING", new: "RETURNING",
			test: storeTests, run: run,
		},
		{
			name: "one person is one contact", file: "internal/whatsapp/contacts/known.go",
			old: "	known, err := pairs.GetManyLIDsForPNs(ctx, numbers)\n", new: "	known, err := pairs.GetManyLIDsForPNs(ctx, nil)\n",
			test: contactTests, run: "KnownContacts",
		},
		{
			name: "the account is none of its contacts", file: "internal/whatsapp/contacts/known.go",
			old: "k.Self.Is(party.JID) || k.Self.Is(party.LID)", new: "false",
			test: contactTests, run: "KnownContacts",
		},
		{
			name: "who gives up ends no other connection", file: "internal/whatsapp/keys/rows.go",
			old: "failed != nil && ctx.Err() == nil &&", new: "failed != nil &&",
			test: keysTests, run: "ReadersMayGiveUp",
		},
		{
			name: "whoever lists contacts takes nothing from the session", file: "internal/whatsapp/keys/contact.go",
			old: "	n.keys.mu.Lock()\n", new: "	if _, err := n.keys.Load(ctx, \"\", n.device); err != nil {\n		return nil, err\n	}\n	n.keys.mu.Lock()\n",
			test: keysTests, run: "NamesAreReadBesideASession",
		},
		{
			name: "an instance that is not linked knows nobody", file: "internal/instance/instance.go",
			old: "	if err != nil || !instance.Linked() {\n		return nil, false, err", new: "	if err != nil {\n		return nil, false, err",
			test: serverTests, run: "ContactsOfAnInstanceThatIsNotConnected/SQLite",
		},
		{
			name: "a label is told once", file: "internal/store/labeltable/labeltable.go",
			old: "case change.Act == gateway.LabelSet && label == change.Label, ", new: "case ",
			test: storeTests, run: "TestSQLite/labels",
		},
		{
			name: "labels are bounded", file: "internal/store/labeltable/labeltable.go",
			old: "WHERE (SELECT count(*) FROM labels WHERE instance_id = $1) < $5\"\n", new: "WHERE (SELECT count(*) FROM labels WHERE instance_id = $1) < $5 * 2\"\n",
			test: storeTests, run: "TestSQLite/labels",
		},
		{
			name: "a chat that was joined keeps its labels", file: write,
			old: "	if err := labeltable.Move(ctx, q, w.instanceID, gone.id, kept.id); err != nil {", new: "	if err := labeltable.Move(ctx, q, w.instanceID, kept.id, kept.id); err != nil {",
			test: storeTests, run: "TestSQLite/labels",
		},
		{
			name: "a label goes with its message", file: write,
			old: "	if err := labeltable.Leave(ctx, q, set, args...); err != nil {", new: "	if err := labeltable.Leave(ctx, q, set+\" LIMIT 0\", args...); err != nil {",
			test: storeTests, run: "TestSQLite/labels",
		},
		{
			name: "the echo of a label is known", file: "internal/whatsapp/chatstate/label.go",
			old: "change.Act == \"\" || c.isEcho(own)", new: "change.Act == \"\" || c.isEcho(own) && false",
			test: "./internal/whatsapp/chatstate", run: "TestLabelsOfThisDevice",
		},
		{
			name: "the app state can't stop the process", file: "internal/whatsapp/keys/guard.go",
			old: "	if ctx.Value(guarded{}) == nil {", new: "	if false {",
			test: "./internal/hostile", run: "TestSettingsWithoutSense",
		},
		{
			name: "labels come before what they are on", file: "internal/whatsapp/chatstate/label.go",
			old: "return rank(a) - rank(b)", new: "return rank(b) - rank(a)",
			test: serverTests, run: "TestLabels$",
		},
		{
			name: "what is starred stays in a chat that is cleared", file: "internal/whatsapp/chatstate/clear.go",
			old: "KeepStarred: len(entry.Index) > 2 &&", new: "KeepStarred: len(entry.Index) > 9 &&",
			test: serverTests, run: "TestChatsAreCleared",
		},
	}
}
