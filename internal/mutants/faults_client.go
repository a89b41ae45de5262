package main

// clientFaults break what the Go client promises.
func clientFaults() []fault {
	return []fault{
		{
			name: "every kind of event has its type", file: "client/event_types.go",
			old: "decoded[CallReceivedEvent]", new: "decoded[CallEndedEvent]",
			test: "./client", run: "DecodeHolds",
		},
		{
			name: "a signature is checked", file: "client/verify.go",
			old: "hmac.Equal([]byte(given), []byte(want)) || right", new: "hmac.Equal([]byte(given), []byte(want)) || true",
			test: "./client", run: "VerifyWebhook",
		},
		{
			name: "a stream goes on after a quiet stretch", file: "client/stream.go",
			old: "s.advance(id) // there are only", new: "_ = id // the types",
			test: "./client", run: "FollowGoesOnWhereItWas",
		},
		{
			name: "a stream notices a dead peer", file: "client/follow.go",
			old: "func() { cancel(errSilent) }", new: "func() {}",
			test: "./client", run: "FollowComesBack",
		},
		{
			name: "a stream takes large events", file: "client/stream.go",
			old: "DefaultMaxEvent = 64 << 20", new: "DefaultMaxEvent = 1 << 20",
			test: "./client", run: "FollowBoundsEvents",
		},
	}
}
