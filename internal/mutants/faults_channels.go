// Faults in channels.

package main

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
			name: "only texts go into channels", file: "internal/messaging/send.go",
			old: "to.Chat.IsChannel() && d.content.Type", new: "to.Chat.IsGroup() && d.content.Type",
			test: serverTests, run: "TestOwnChannel",
		},
		{
			name: "the name of a channel is cleaned", file: "internal/gateway/channel.go",
			old: "c.Name, c.Description = CleanName(c.Name), ", new: "c.Description = ",
			test: "./internal/hostile", run: "TestHostileChannel",
		},
	}
}
