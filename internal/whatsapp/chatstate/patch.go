// The patches of the app state that change a chat.

package chatstate

import (
	"time"

	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/wire"
)

// patchesOf makes the patches of a change, one for each collection.
func patchesOf(chat gateway.ChatAnchor, change gateway.ChatChange) (patches []appstate.PatchInfo, err error) {
	to, at, key, err := anchorOf(chat)
	if err != nil {
		return nil, err
	}
	low := appstate.PatchInfo{Type: appstate.WAPatchRegularLow}
	if change.Archived != nil {
		low.Mutations = append(low.Mutations, appstate.BuildArchive(to, *change.Archived, at, key).Mutations...)
	}
	if change.Pinned != nil {
		low.Mutations = append(low.Mutations, appstate.BuildPin(to, *change.Pinned).Mutations...)
	}
	if change.Read != nil {
		low.Mutations = append(low.Mutations, appstate.BuildMarkChatAsRead(to, *change.Read, at, key).Mutations...)
	}
	if len(low.Mutations) > 0 {
		patches = append(patches, low)
	}
	if until := change.MutedUntil; until != nil {
		var end *int64 // without an end
		if !until.IsZero() && !until.Equal(gateway.MutedForever()) {
			end = new(until.UnixMilli())
		}
		patches = append(patches, appstate.BuildMuteAbs(to, !until.IsZero(), end))
	}
	return patches, nil
}

func deletion(chat gateway.ChatAnchor) (appstate.PatchInfo, error) {
	to, at, key, err := anchorOf(chat)
	if err != nil {
		return appstate.PatchInfo{}, err
	}
	return appstate.BuildDeleteChat(to, at, key, true), nil
}

// anchorOf is the chat as the phone knows it, people by LID, with its newest message.
func anchorOf(chat gateway.ChatAnchor) (to types.JID, at time.Time, key *waCommon.MessageKey, err error) {
	if to, err = wire.ToJID(chat.Party.Key()); err != nil || chat.Last.PlatformID == "" {
		return to, at, nil, err
	}
	key = &waCommon.MessageKey{RemoteJID: new(to.String()), FromMe: new(chat.Last.FromMe), ID: new(chat.Last.PlatformID)}
	if to.Server == types.GroupServer && !chat.Last.FromMe {
		key.Participant = new(string(chat.Last.Sender.Key()))
	}
	return to, chat.Last.SentAt, key, nil
}
