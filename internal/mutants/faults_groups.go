// Faults in groups and channels, and in what is about the account itself.

package main

func groupFaults() []fault {
	const session = "internal/whatsapp/groups/groups.go"
	return []fault{
		{
			name: "all groups are asked for once", file: session,
			old: "	case !known || len(stale) > maxAskedAlone:", new: "	case !known || len(stale) > 0:",
			test: "./internal/whatsapp", run: "GroupsAreAskedForOnce",
		},
		{
			name: "a change of a group reaches the list", file: "internal/whatsapp/caches/groups.go",
			old: "		c.stale[id] = struct{}{}", new: "		_ = id",
			test: "./internal/whatsapp", run: "GroupsAreAskedForOnce",
		},
		{
			name: "the list of groups is kept", file: "internal/whatsapp/groups/kept.go",
			old: "		if err := g.config.Keep(ctx, list); err != nil {", new: "		if err := ctx.Err(); err != nil {",
			test: serverTests, run: "GroupsOfAnInstanceThatIsNotConnected/SQLite",
		},
		{
			name: "groups that were never listed are not none", file: "internal/group/group.go",
			old: "	if err == nil && !known {", new: "	if false && !known {",
			test: serverTests, run: "GroupsOfAnInstanceThatIsNotConnected/SQLite",
		},
		{
			name: "the same list of groups is written once", file: "internal/whatsapp/groups/kept.go",
			old: "	if hash != g.kept.hash {", new: "	if hash != [sha256.Size]byte{} {",
			test: "./internal/whatsapp/groups", run: "KeptGroups",
		},
		{
			name: "a stranger to a group is no administrator in waiting", file: session,
			old: "gateway.KindOf(missing) == gateway.NotFound {\n		return missing", new: "gateway.KindOf(missing) == gateway.NotFound {\n		return err",
			test: serverTests, run: "GroupRefusals",
		},
		{
			name: "a change that fails in the middle says what was changed", file: "internal/group/group.go",
			old: "partly(err, steps, n)", new: "partly(err, steps[n:], 0)",
			test: serverTests, run: "GroupRefusals",
		},
		{
			name: "a person under two addresses is added once", file: "internal/group/member.go",
			old: "		if !known {\n			place", new: "		if true {\n			place",
			test: serverTests, run: "GroupIsMadeAndChanged",
		},
		{
			name: "an invitation is sent if that is wanted", file: "internal/group/member.go",
			old: "if err != nil || !invite || !slices", new: "if err != nil || invite || !slices",
			test: serverTests, run: "GroupInvitationsAreSent",
		},
		{
			name: "the members that are taken are bounded", file: "internal/whatsapp/wire/group.go",
			old: "if len(group.Participants) == gateway.MaxGroupMembers {", new: "if len(group.Participants) < 0 {",
			test: "./internal/whatsapp/wire", run: "NewGroupIsBounded",
		},
	}
}

func profileFaults() []fault {
	const session = "internal/whatsapp/profiles/"
	return []fault{
		{
			name: "a block on the phone drops the list that is held", file: session + "blocks.go",
			old: "	p.ForgetBlocks()\n	changed :=", new: "	changed :=",
			test: serverTests, run: "BlockList",
		},
		{
			name: "the block list is bounded", file: session + "blocks.go",
			old: "isPerson(who.address) && len(list) < gateway.MaxBlocked", new: "isPerson(who.address)",
			test: "./internal/whatsapp/profiles", run: "BlockListIsBounded",
		},
		{
			name: "the picture of the account is told once", file: session + "profiles.go",
			old: "		told.Kind = gateway.AccountPictureChanged\n", new: "		told.Kind = gateway.AccountPictureChanged\n		p.config.Changed(told)\n",
			test: serverTests, run: "Profile$",
		},
		{
			name: "a choice that nobody knows is none", file: session + "privacy.go",
			old: "	return \"\"\n}", new: "	return gateway.PrivacyChoice(word)\n}",
			test: "./internal/whatsapp/profiles", run: "WordsOfPrivacy",
		},
		{
			name: "a change of the profile that fails in the middle says what was changed", file: "internal/profile/profile.go",
			old: "partly(err, steps, n)", new: "partly(err, steps[n:], 0)",
			test: "./internal/profile", run: "CarryOut",
		},
		{
			name: "pictures of people are square", file: "internal/media/portrait.go",
			old: "middle := square(full.Bounds())", new: "middle := full.Bounds()",
			test: serverTests, run: "Profile$",
		},
		{
			name: "a caller gets one text", file: "internal/call/call.go",
			old: "if _, got := callers[caller]; got || ", new: "if ",
			test: "./internal/call", run: "TextsToCallers",
		},
		{
			name: "subscriptions to presence are renewed", file: "internal/instance/lifecycle.go",
			old: "		connected(ctx, l.supervisor.id)\n", new: "		_ = connected\n",
			test: serverTests, run: "PresenceSubscriptions",
		},
		{
			name: "a contact who toggles is held back", file: "internal/presence/throttle.go",
			old: " && known.allows(now, contactBurst, contactPause) {", new: " {",
			test: "./internal/presence", run: "Throttle",
		},
		{
			name: "a silent platform holds no other instance's presence", file: "internal/presence/presence.go",
			old: "				s.renewAll(ctx, &renewing)\n", new: "				s.renewAll(ctx, &renewing)\n				_ = renewing.Wait()\n",
			test: "./internal/presence", run: "SilenceHoldsNoOtherRenewal",
		},
		{
			name: "a subscription that can't be ended holds no other", file: "internal/presence/presence.go",
			old: "			failed(s.end(work, subscription))\n", new: "			if err := s.end(work, subscription); err != nil {\n				failed(err)\n				return\n			}\n",
			test: "./internal/presence", run: "WhatCannotBeEnded",
		},
		{
			name: "a label waits for no other instance", file: "internal/label/label.go",
			old: "s.naming.Lock(ctx, instanceID)", new: `s.naming.Lock(ctx, "")`,
			test: "./internal/label", run: "SilenceHoldsNoOtherInstance",
		},
		{
			name: "a call of a group is not rejected by itself", file: "internal/call/call.go",
			old: "	if call.Chat.JID.IsGroup() {\n		return // it is not only this account's\n	}\n", new: "",
			test: serverTests, run: "AllCallsAreRejected",
		},
		{
			name: "the calls that ring are bounded", file: "internal/whatsapp/caches/ringing.go",
			old: "	if len(r.calls) > maxRinging {", new: "	if len(r.calls) < 0 {",
			test: "./internal/whatsapp/caches", run: "RingingCallsAreBounded",
		},
		{
			name: "a late call is not answered", file: "internal/call/call.go",
			old: "rule.Reject && now.Sub(call.At) <= freshness", new: "rule.Reject",
			test: "./internal/call", run: "LateCalls",
		},
	}
}

func channelFaults() []fault {
	const session = "internal/whatsapp/channels/channels.go"
	return []fault{
		{
			name: "what is done with a channel reaches the list", file: session,
			old: "	c.joined, c.known = nil, false\n", new: "",
			test: serverTests, run: "TestChannelsAreFollowed",
		},
		{
			name: "a post that is deleted is deleted here", file: "internal/whatsapp/wire/change.go",
			old: "		change.Kind = gateway.ChangeDeleted\n	default:", new: "		return gateway.Change{}, false\n	default:",
			test: serverTests, run: "TestChannelsAreFollowed",
		},
		{
			name: "posts are read from both sides", file: "internal/whatsapp/channels/posts.go",
			old: "	if query.After > 0 {", new: "	if query.After < 0 {",
			test: serverTests, run: "TestChannelsAreFollowed",
		},
		{
			name: "a reaction is answered by the platform", file: "internal/whatsapp/channels/posts.go",
			old: "		if code != 0 {", new: "		if code < 0 {",
			test: serverTests, run: "TestChannelsAreFollowed",
		},
		{
			name: "channels refuse what they don't take", file: "internal/messaging/forward.go",
			old: "	case !to.Chat.IsChannel():", new: "	case !to.Chat.IsGroup():",
			test: serverTests, run: "TestOwnChannel",
		},
		{
			name: "the handle of a file is kept with its post", file: "internal/whatsapp/wire/encoder.go",
			old: "		setHandle(message, content.Media.Upload.Handle)", new: "		setHandle(message, \"\")",
			test: serverTests, run: "TestFilesInChannels",
		},
		{
			name: "the name of a channel is cleaned", file: "internal/gateway/channel.go",
			old: "c.Name, c.Description = CleanName(c.Name), ", new: "c.Description = ",
			test: "./internal/hostile", run: "TestHostileChannel",
		},
	}
}
