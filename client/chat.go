// What the names of chats and the times of mutes may be beside identifiers and times.

package client

const (
	// StatusChat is the chat of status posts, in messages and events: what people show to their
	// contacts for a day. It can't be written to: PostStatusText and the others do that.
	StatusChat = "status@broadcast"
	// Forever is how a mute without an end is spelled.
	Forever = "forever"
)
