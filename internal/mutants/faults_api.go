package main

// apiFaults break the bounds and the authority that the API keeps.
func apiFaults() []fault {
	return []fault{
		{
			name: "a version is looked up by the way of a session", file: "internal/whatsapp/session.go",
			old: "versions.By(s.route.client)", new: "versions.By(s.connector.direct.client)",
			test: "./internal/whatsapp", run: "SessionByProxy",
		},
		{
			name: "codes after a question for a passkey have its secret", file: "internal/whatsapp/linking.go",
			old: "l.codes[i] = strings.Join(parts, \",\")", new: "l.codes[i] = code",
			test: "./internal/server", run: "LinkWithPasskeyFailsAndIsTriedAgain",
		},
		{
			name: "a passkey's answer is to the request that is open", file: "internal/whatsapp/passkey/passkey.go",
			old: "signed.Challenge != base64.RawURLEncoding.EncodeToString(request.Challenge):", new: "signed.Challenge == \"\":",
			test: "./internal/server", run: "WrongAnswerOfAPasskeyCanBeGivenAgain",
		},
		{
			name: "a code is compared where that was asked for", file: "internal/whatsapp/linking.go",
			old: "event.SkipHandoffUX && !s.connector.config.ComparePasskeys", new: "event.SkipHandoffUX",
			test: "./internal/server", run: "LinkWithPasskeyFailsAndIsTriedAgain",
		},
		{
			name: "viewers answer no question for a passkey", file: "internal/dashboard/routes.go",
			old:  "act(one+\"/passkey\", user.ActionInstancePasskey, p.answerPasskey),",
			new:  "{Method: http.MethodPost, Path: one + \"/passkey\", Role: gateway.RoleViewer, Action: user.ActionInstancePasskey, Handle: p.answerPasskey},",
			test: "./internal/dashboard", run: "RolesAreKept",
		},
		{
			name: "viewers cancel no message in the queue", file: "internal/dashboard/routes.go",
			old:  "act(one+\"/queue/{messageId}/cancel\", user.ActionMessageCancelled, p.cancelQueued),",
			new:  "{Method: http.MethodPost, Path: one + \"/queue/{messageId}/cancel\", Role: gateway.RoleViewer, Action: user.ActionMessageCancelled, Handle: p.cancelQueued},",
			test: "./internal/dashboard", run: "RolesAreKept",
		},
		{
			name: "the account's webhooks are for owners", file: "internal/dashboard/webhooks/account.go",
			old: "Role: gateway.RoleOwner", new: "Role: gateway.RoleOperator",
			test: "./internal/dashboard", run: "RolesAreKept|OwnersAlone",
		},
		{
			name: "viewers name no contact", file: "internal/dashboard/contacts/contacts.go",
			old: "Role: gateway.RoleOperator", new: "Role: gateway.RoleViewer",
			test: "./internal/dashboard", run: "RolesAreKept",
		},
		{
			name: "viewers follow no channel", file: "internal/dashboard/channels/channels.go",
			old: "Path: one, Role: gateway.RoleOperator", new: "Path: one, Role: gateway.RoleViewer",
			test: "./internal/dashboard", run: "RolesAreKept",
		},
		{
			name: "viewers do not change the account", file: "internal/dashboard/account/account.go",
			old: "Role: gateway.RoleOperator", new: "Role: gateway.RoleViewer",
			test: "./internal/dashboard", run: "RolesAreKept",
		},
		{
			name: "viewers arrange no chat", file: "internal/dashboard/routes.go",
			old:  "act(one+\"/chats/arrange\", user.ActionChatArranged, p.arrangeChat),",
			new:  "{Method: http.MethodPost, Path: one + \"/chats/arrange\", Role: gateway.RoleViewer, Action: user.ActionChatArranged, Handle: p.arrangeChat},",
			test: "./internal/dashboard", run: "RolesAreKept",
		},
		{
			name: "a mute that has ended is not shown", file: "internal/dashboard/arrange.go",
			old: "Muted: listed.MutedUntil.After(now),", new: "Muted: !listed.MutedUntil.IsZero(),",
			test: "./internal/dashboard", run: "ArrangedChatsAreShown",
		},
		{
			name: "a misspelt restriction is refused", file: "internal/api/key.go",
			old: "in.RefuseMisspelt()", new: "error(nil)",
			test: "./internal/api", run: "MisspeltRestriction",
		},
		{
			name: "unknown fields are not built", file: "internal/api/body/field_reader.go",
			old: "if err := r.json.Decode(&unread{}); err != nil {", new: "var skipped any\n\t\t\tif err := r.json.Decode(&skipped); err != nil {",
			test: "./internal/api", run: "UnknownFieldsAreNotBuilt",
		},
		{
			name: "a body is small beside its media", file: "internal/api/body/sieve.go",
			old: "beside > besideMedia {", new: "beside < 0 {",
			test: "./internal/api/body", run: "SieveBounds",
		},
		{
			name: "lists stop at their bounds", file: "internal/api/body/field_reader.go",
			old: "len(items) == *schema.MaxItems {", new: "len(items) < 0 {",
			test: "./internal/api", run: "ErrorsStaySmall",
		},
		{
			name: "errors name twenty fields", file: "internal/gateway/error.go",
			old: "maxFields = 20", new: "maxFields = 1 << 30",
			test: "./internal/api", run: "ErrorsStaySmall",
		},
		{
			name: "bodies of one key are bounded", file: "internal/api/body/budget.go",
			old: "b.byOwner[owner]+more > b.perOwner", new: "b.byOwner[owner]+more < 0",
			test: "./internal/api", run: "BodiesUnderWayAreBounded",
		},
		{
			name: "a body that stalls is given up", file: "internal/api/body/body.go",
			old: "_ = p.control.SetReadDeadline(time.Unix(1, 0))", new: "_ = p.control",
			test: "./internal/api", run: "BodyThatStallsIsGivenUp",
		},
		{
			name: "requests of a key are limited", file: "internal/api/contract/gate.go",
			old: "err := a.keyPace.admit(x.Header(), x.key.ID, a.config.Now())", new: "err := error(nil)",
			test: "./internal/api", run: "RequestsAreLimitedByKeyAndInstance",
		},
		{
			name: "streams of a key are limited", file: "internal/api/limits.go",
			old: "most >= 0 && p.taken[key] >= most", new: "most < -5",
			test: "./internal/api", run: "StreamsOfAKeyAreLimited",
		},
		{
			name: "no key outlives its maker", file: "internal/gateway/account.go",
			old: "!end.IsZero() && (others.IsZero() || others.After(end))", new: "false && others == end",
			test: "./internal/gateway", run: "KeyCovers",
		},
		{
			name: "a key revokes what it covers", file: "internal/access/within.go",
			old: "!found || !own.Covers(key)", new: `!found || key.ID == ""`,
			test: "./internal/access", run: "KeysWithin",
		},
		{
			name: "a restricted key makes no instance", file: "internal/api/partner_instance.go",
			old: "if len(own.InstanceIDs) > 0 {", new: "if false {",
			test: "./internal/api", run: "RestrictedPartnerKey",
		},
		{
			name: "null is not all instances", file: "internal/api/key.go",
			old: `in.IsNull("instanceIds")`, new: `in.IsNull("nothing")`,
			test: "./internal/api", run: "NullIsNotAllInstances",
		},
		{
			name: "a stream ends with its key", file: "internal/access/watch.go",
			old: "s.end(revoked...)", new: "_ = revoked",
			test: "./internal/access", run: "WatchTellsTheEndOfAKey",
		},
		{
			name: "a stream reads by bytes", file: "internal/api/event_stream.go",
			old: "streamBytes = 256 << 10", new: "streamBytes = 1 << 40",
			test: "./internal/api", run: "StreamReadsByBytes",
		},
		{
			name: "replays are limited", file: "internal/webhook/replay.go",
			old: "err := s.replays.admit(ref.InstanceID, s.now())", new: "err := error(nil)",
			test: "./internal/webhook", run: "ReplaysAreLimited",
		},
		{
			name: "a suspended webhook says so", file: "internal/webhook/condition.go",
			old: "condition.Flow, condition.Reason = FlowSuspended, health.Reason", new: "condition.Reason = health.Reason",
			test: "./internal/webhook", run: "ConditionOfADelivery",
		},
		{
			name: "deliveries show that an event waits", file: "internal/webhook/deliveries.go",
			old: "p.health().explain(page.Items)", new: "_ = p",
			test: "./internal/webhook", run: "ConditionOfADelivery",
		},
		{
			name: "the root leads somewhere", file: "internal/api/reference/reference.go",
			old: `"/{$}": "/docs", "/docs/{$}"`, new: `"/docs/{$}"`,
			test: "./internal/api", run: "RootLeadsToTheReference",
		},
		{
			name: "form data is recognised", file: "internal/api/body/syntax.go",
			old: "case isForm(content):", new: "case false:",
			test: "./internal/api", run: "Validation",
		},
		{
			name: "useless secrets are refused", file: "internal/webhook/endpoint_url.go",
			old: "!Secret(*secret).isEncoded():", new: "false:",
			test: "./internal/webhook", run: "Settings",
		},
		{
			name: "no number begins with 0", file: "internal/gateway/recipient.go",
			old: " || number[0] == '0'", new: "",
			test: "./internal/gateway", run: "ParseRecipient",
		},
		{
			name: "nobody blocks himself", file: "internal/directory/directory.go",
			old: "self.Is(party.JID) || self.Is(party.LID)", new: `self.Is("nobody")`,
			test: "./internal/server", run: "BlockKeepsMessagesAway",
		},
		{
			name: "links begin with a host", file: "internal/api/download.go",
			old: "if !usable {", new: "if !usable && false {",
			test: "./internal/api", run: "LinksBeginWithAHost",
		},
		{
			name: "nullable enums have null", file: "internal/api/contract/route.go",
			old: "append(property.Enum, nil)", new: "append(property.Enum, property.Enum[:0]...)",
			test: "./internal/api", run: "NullableEnumsHaveNull",
		},
		{
			name: "the document is made when it is asked for", file: "internal/api/contract/document.go",
			old: "written := sync.OnceValues(write)", new: "written := sync.OnceValues(write)\n\t_, _ = written()",
			test: "./internal/api", run: "NobodyPaysForADocument",
		},
		{
			name: "nobody connects before the data is open", file: "internal/server/server.go",
			old: "if err := s.reserve(); err != nil {", new: "if err := errors.Join(s.reserve(), s.answer()); err != nil {",
			test: "./internal/server", run: "NobodyConnects",
		},
		{
			name: "a revoked key is seen by another process", file: "internal/store/key.go",
			old: "return s.keysMark.Tell()", new: "return nil",
			test: "./internal/store", run: "ARevokedKeyIsSeen",
		},
		{
			name: "what is kept in memory is never older than what was written", file: "internal/store/cache/cache.go",
			old: "if c.running > 0 || changes != c.changes {", new: "if c.running > 0 {",
			test: "./internal/store/cache", run: "NobodyKeepsAnOldValue",
		},
		{
			name: "an instance is new when its event rings", file: "internal/store/instance.go",
			old: "(gateway.Instance, error) {\n\tdefer s.changeInstance(ctx, id)()", new: "(gateway.Instance, error) {",
			test: "./internal/store", run: "AnInstanceIsNew",
		},
		{
			name: "events fit the document", file: "internal/api/contract/event_schema.go",
			old: `return &huma.Schema{AnyOf: []*huma.Schema{inner, {Type: "null"}}}`, new: "return inner",
			test: "./internal/api", run: "EventsFitTheDocument",
		},
	}
}
