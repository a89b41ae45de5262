// Faults in what docs/webhooks.md promises of several destinations.

package main

func webhookFaults() []fault {
	const storeFile = "internal/store/webhooktable/webhooktable.go"
	return []fault{
		{
			name: "events reach every webhook of an instance", file: "internal/webhook/service.go",
			old: "	for _, p := range pumps {\n		p.appended(events)\n	}", new: "	if len(pumps) > 0 {\n		pumps[0].appended(events)\n	}",
			test: webhookTests, run: "SeveralDestinations",
		},
		{
			name: "events are kept for the webhook that is the farthest behind", file: "internal/webhook/service.go",
			old: "waits && (!waiting || through < cursor)", new: "waits && (!waiting || through > cursor)",
			test: webhookTests, run: "SeveralDestinations",
		},
		{
			name: "what a filter leaves out is not delivered", file: "internal/webhook/filter.go",
			old: "	if len(f.Kinds) > 0 && !slices", new: "	if false && !slices",
			test: webhookTests, run: "Filter",
		},
		{
			name: "a webhook of an account gets what happened before an instance followed it", file: "internal/webhook/configuration.go",
			old: "			saved.Cursor = first - 1\n", new: "			first = 0\n",
			test: webhookTests, run: "FollowFromTheBeginning",
		},
		{
			name: "a webhook that follows is changed for all only", file: "internal/webhook/configuration.go",
			old: "if err == nil && webhook.Account != \"\" {", new: "if false {",
			test: "./internal/server", run: "AccountWebhook",
		},
		{
			name: "a link in an event fetches the file", file: "internal/messaging/download.go",
			old: "			if fetch {", new: "			if false && fetch {",
			test: "./internal/server", run: "MediaDownloadLink",
		},
		{
			name: "only events of messages with a file have links", file: "internal/webhook/media_link.go",
			old: "message.ID == \"\" || message.Media == nil", new: "message.ID == \"\"",
			test: webhookTests, run: "MediaLinkOf",
		},
		{
			name: "events of no chat pass the filter of chats", file: "internal/webhook/filter.go",
			old: `event.Chat == "" || `, new: "",
			test: webhookTests, run: "Filter",
		},
		{
			name: "a filter lets the cursor pass", file: "internal/webhook/backlog/read.go",
			old: "	case through > 0 && whole:", new: "	case through > 0 && whole && false:",
			test: "./internal/webhook/backlog", run: "Backlog",
		},
		{
			name: "a filter takes no event that it has not looked at", file: "internal/webhook/backlog/read.go",
			old: "			whole = false\n", new: "",
			test: "./internal/webhook/backlog", run: "Backlog",
		},
		{
			name: "what is left out is saved in the end", file: "internal/webhook/pump.go",
			old: "		p.service.flusher.markLater(p)\n", new: "",
			test: webhookTests, run: "LeftOut",
		},
		{
			name: "the database leaves out what the filter leaves out", file: "internal/store/event_search.go",
			old: "len(events) == maxEvents || size >= maxBytes", new: "false",
			test: storeTests, run: "SQLite",
		},
		{
			name: "no header of a webhook takes the place of the gateway's", file: "internal/webhook/header.go",
			old: "		case isReserved(canonical):", new: "		case false:",
			test: webhookTests, run: "NewHeaders",
		},
		{
			name: "a header of a webhook holds no second one", file: "internal/webhook/header.go",
			old: "		if c < ' ' || c > '~' {", new: "		if c > '~' {",
			test: webhookTests, run: "NewHeaders",
		},
		{
			name: "the headers of a webhook are sealed", file: "internal/store/vault/reseal.go",
			old: "&webhookHeaders, &accountSecret", new: "&accountSecret",
			test: storeTests, run: "Seal",
		},
		{
			name: "webhook-config stays the same webhook", file: storeFile,
			old: "CASE WHEN $2 = '' THEN place = instance_id ELSE id = $2 END", new: "CASE WHEN $2 = '' THEN TRUE ELSE id = $2 END",
			test: storeTests, run: "SQLite",
		},
		{
			name: "the number of webhooks is bounded", file: "internal/webhook/configuration.go",
			old: "	if others >= MaxWebhooks {", new: "	if false {",
			test: webhookTests, run: "First",
		},
		{
			name: "webhook-config keeps the filters", file: "internal/webhook/configuration.go",
			old: "	if settings.Events != nil {\n		webhook.Filter.Kinds = *settings.Events\n	}", new: "	webhook.Filter.Kinds = nil\n	if settings.Events != nil {\n		webhook.Filter.Kinds = *settings.Events\n	}",
			test: webhookTests, run: "First",
		},
	}
}
