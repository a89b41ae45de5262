package main

// pollFaults break what is promised of polls.
func pollFaults() []fault {
	return []fault{
		{
			name: "a vote counts once for each person", file: "internal/store/votetable/votetable.go",
			old: "return v.By.Is(vote.By.JID) || v.By.Is(vote.By.LID)", new: "return v.By.Is(vote.By.JID) && v.By.Is(vote.By.LID)",
			test: storeTests, run: "TestSQLite/votes$",
		},
		{
			name: "an older vote does not replace a newer one", file: "internal/store/votetable/votetable.go",
			old: "if votes[earlier].At.After(vote.At) {", new: "if false {",
			test: storeTests, run: "TestSQLite/votes$",
		},
		{
			name: "a vote with too many choices is ignored", file: "internal/messaging/vote.go",
			old: "if most := details.Poll.MaxAnswers; most > 0 && len(choices) > most {", new: "if false {",
			test: hostileTests, run: "ForgedVotes",
		},
		{
			name: "a choice that the poll does not have is no choice", file: "internal/messaging/poll/poll.go",
			old: "if _, ok := places[choice]; ok && !taken[choice] {", new: "if _, ok := places[choice]; ok || !taken[choice] {",
			test: hostileTests, run: "ForgedVotes",
		},
		{
			name: "a poll has a secret, without which nobody can vote", file: "internal/whatsapp/wire/poll.go",
			old: "PollCreationMessage: poll, MessageContextInfo: newSecret()}", new: "PollCreationMessage: poll}",
			test: serverTests, run: "VotesAreCounted",
		},
		{
			name: "the longer number of somebody else is not mentioned", file: "internal/messaging/mention.go",
			old: "if after != \"\" && after[0] >= '0' && after[0] <= '9' {", new: "if false {",
			test: serverTests, run: "TestMentions",
		},
	}
}

// contentFaults break what is promised of what messages hold.
func contentFaults() []fault {
	return []fault{
		{
			name: "a sticker is small enough for phones", file: "internal/media/sticker.go",
			old: "case made.size <= stickerBytes:", new: "case true:",
			test: "./internal/media", run: "TestStickersThatAreRefused",
		},
		{
			name: "no more of a page is read than needed", file: "internal/preview/head.go",
			old: "io.LimitReader(page, maxPage)", new: "page",
			test: "./internal/preview", run: "TestHostilePages",
		},
		{
			name: "a page that stalls holds no text up", file: "internal/preview/preview.go",
			old: "ctx, cancel := context.WithTimeout(ctx, f.config.Timeout)", new: "ctx, cancel := context.WithCancel(ctx)",
			test: "./internal/preview", run: "TestPagesThatStall",
		},
		{
			name: "a text that is to have no preview has none", file: "internal/messaging/send.go",
			old: "if request.Preview && s.config.Previews != nil {", new: "if s.config.Previews != nil {",
			test: serverTests, run: "TestLinkPreviews",
		},
		{
			name: "the file of a form is no larger than other media", file: "internal/api/body/form.go",
			old: "if b.sieve.media.size > r.config.MaxMedia {", new: "if false {",
			test: "./internal/api", run: "TestFormsThatAreRefused",
		},
		{
			name: "the file of a form counts for its Idempotency-Key", file: "internal/api/body/form.go",
			old: `dataMarker+","+sum)`, new: `dataMarker+",AAAA"+sum[:0])`,
			test: serverTests, run: "TestFilesInForms",
		},
		{
			name: "what is sent into a chat says when it disappears", file: "internal/messaging/sent_payload.go",
			old: "err != nil || after == 0", new: "err != nil || after >= 0",
			test: serverTests, run: "TestChatsAreArranged$",
		},
		{
			name: "a sticker that moves says so", file: "internal/whatsapp/wire/media.go",
			old: "IsAnimated: flag(m.Animated), ", new: "",
			test: serverTests, run: "TestStickersThatMove",
		},
	}
}

// calendarFaults break what is promised of calendar events.
func calendarFaults() []fault {
	return []fault{
		{
			name: "a calendar event has a secret, without which nobody can respond", file: "internal/whatsapp/wire/poll.go",
			old: "EventMessage: event, MessageContextInfo: newSecret()}", new: "EventMessage: event}",
			test: serverTests, run: "CalendarEvents",
		},
		{
			name: "guests count only where the event allows any", file: "internal/messaging/vote.go",
			old: "if details.Event == nil || !details.Event.ExtraGuestsAllowed ||", new: "if details.Event == nil ||",
			test: hostileTests, run: "ForgedResponses",
		},
	}
}

// markFaults break what is promised of messages that are pinned, starred, or deleted for oneself.
func markFaults() []fault {
	return []fault{
		{
			name: "only administrators pin where only they may", file: "internal/whatsapp/change.go",
			old: "if change.Kind == gateway.ChangePin && !change.FromMe && !s.MayPin(s.ctx, change.Chat.JID, change.By) {", new: "if false {",
			test: hostileTests, run: "ForgedPins",
		},
		{
			name: "what was deleted is pinned no more", file: "internal/messaging/confirm.go",
			old: "change.At, time.Time{}\n", new: "change.At, message.PinnedUntil\n",
			test: serverTests, run: "MessagesArePinned",
		},
		{
			name: "a star counts for the message of its chat alone", file: "internal/chat/message.go",
			old: "(m.Chat.Is(update.Chat.JID) || m.Chat.Is(update.Chat.LID))", new: "true",
			test: "./internal/messaging", run: "MessageUpdates",
		},
		{
			name: "what is on its way keeps its content", file: "internal/chat/message.go",
			old: "case update.Deleted && message.Status != gateway.MessagePending:", new: "case update.Deleted:",
			test: "./internal/messaging", run: "MessageUpdates",
		},
		{
			name: "each message of an album is sent once under a key", file: "internal/messaging/idempotency.go",
			old: "strconv.Itoa(n), Hash", new: "strconv.Itoa(0), Hash",
			test: serverTests, run: "TestAlbums",
		},
		{
			name: "a wrong file keeps the whole album back", file: "internal/messaging/media.go",
			old: "			if files[n], err = s.openItem(ctx, item); err != nil {", new: "			if files[n], err = s.openItem(ctx, item); err != nil && false {",
			test: serverTests, run: "TestAlbums",
		},
	}
}

// statusFaults break what is promised of status posts.
func statusFaults() []fault {
	return []fault{
		{
			name: "status posts are in no list of chats", file: "internal/store/chattable/read.go",
			old: "hasMessage+\" AND jid <> '\"+string(gateway.StatusChat)+\"'\", []any{instanceID}", new: "hasMessage, []any{instanceID}",
			test: storeTests, run: "TestSQLite/chats,_lists$",
		},
		{
			name: "who has seen a status post is told", file: "internal/messaging/receive_receipt.go",
			old: "if receipt.Chat.JID.IsGroup() || receipt.Chat.JID.IsStatus() {", new: "if receipt.Chat.JID.IsGroup() {",
			test: serverTests, run: "TestStatusPosts$",
		},
		{
			name: "nobody writes to the status posts by accident", file: "internal/gateway/recipient.go",
			old: "if !ok || chat.IsStatus() {", new: "if !ok {",
			test: serverTests, run: "TestStatusPosts$",
		},
		{
			name: "a status post for some is shown to nobody else", file: "internal/whatsapp/profiles/audience.go",
			old: "			of.out[who] = struct{}{}", new: "			_ = who",
			test: serverTests, run: "TestStatusPostToSome",
		},
		{
			name: "nobody sees a status post by being named in it", file: "internal/whatsapp/profiles/audience.go",
			old: "		if !slices.ContainsFunc(seers,", new: "		if false && !slices.ContainsFunc(seers,",
			test: serverTests, run: "TestStatusPostToSome",
		},
		{
			name: "whom a status post is for stays with it", file: "internal/whatsapp/wire/file.go",
			old: "	setAudience(message, nil)\n", new: "",
			test: wireTests, run: "TestAudienceStays",
		},
		{
			name: "who is left out of status posts is so by both addresses", file: "internal/whatsapp/profiles/audience.go",
			old: "		set[other] = struct{}{}", new: "		_ = other",
			test: serverTests, run: "TestStatusPosts$",
		},
		{
			name: "who has two addresses is in the audience once", file: "internal/whatsapp/profiles/audience.go",
			old: "		of.out[lid] = struct{}{} //", new: "		_ = lid //",
			test: serverTests, run: "TestStatusPosts$",
		},
		{
			name: "a phone shows a status post to nobody else", file: "internal/sandbox/addressbook/audience.go",
			old: "if chosen.Show != \"blacklist\" || !slices.Contains(chosen.People, who.Number) {", new: "if true {",
			test: "./internal/sandbox", run: "TestStatusPostOfAPhone",
		},
		{
			name: "a status post goes to those who may see it", file: "internal/sandbox/phone/status.go",
			old: "	people = slices.DeleteFunc(", new: "	if people, err = p.s.config.Accounts.All(ctx); err != nil {\n		return err\n	}\n	people = slices.DeleteFunc(people, func(of *account.Account) bool { return of == p.Account })\n	people = slices.DeleteFunc(",
			test: "./internal/sandbox", run: "TestStatusPostOfAPhone",
		},
	}
}
