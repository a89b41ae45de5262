// What a phone answers to a request for older messages.

package phone

import (
	"context"
	"fmt"
	"slices"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/appstate"
)

// maxOlder bounds how many messages a phone answers with.
const maxOlder = 500

// sendOlder answers a request of a linked device for messages that are older than one that it
// knows. request is the identifier of the message with the request.
func (p *phone) sendOlder(ctx context.Context, to *account.Device, request string, asked *waE2E.PeerDataOperationRequestMessage_HistorySyncOnDemandRequest) error {
	filler := p.Account.MadeUpHistory()
	if filler.Silent {
		return nil
	}
	kept, err := p.keptBefore(ctx, asked)
	if err != nil {
		return err
	}
	end := waHistorySync.Conversation_COMPLETE_AND_NO_MORE_MESSAGE_REMAIN_ON_PRIMARY
	if count := min(int(max(asked.GetOnDemandMsgCount(), 0)), maxOlder); len(kept) > count {
		kept, end = kept[:count], waHistorySync.Conversation_COMPLETE_ON_DEMAND_SYNC_BUT_MORE_MSG_REMAIN_ON_PRIMARY
	}
	history, err := appstate.NewHistory(waHistorySync.HistorySync_ON_DEMAND)
	if err != nil {
		return fmt.Errorf("phone: build history: %w", err)
	}
	if len(kept) > 0 {
		if err := p.addConversation(ctx, history, kept, &end); err != nil {
			return err
		}
	}
	if err := history.AddRaw(filler.Raw); err != nil {
		return fmt.Errorf("phone: build history: %w", err)
	}
	packed, err := history.Pack()
	if err != nil {
		return fmt.Errorf("phone: build history: %w", err)
	}
	message, err := p.announce(packed)
	if err != nil {
		return err
	}
	return p.sendPeer(ctx, to, appstate.OnDemand(request, message))
}

// keptBefore returns the phone's messages of a chat that are older than the one that the device
// knows, newest first.
func (p *phone) keptBefore(ctx context.Context, asked *waE2E.PeerDataOperationRequestMessage_HistorySyncOnDemandRequest) ([]*storedMessage, error) {
	jid, err := types.ParseJID(asked.GetChatJID())
	if err != nil {
		return nil, nil //nolint:nilerr // a phone has nothing of such a chat
	}
	with, ok, err := p.s.config.Chats.At(ctx, jid)
	if err != nil || !ok {
		return nil, err
	}
	chats, err := p.messagesByChat(ctx)
	if err != nil {
		return nil, err
	}
	for _, kept := range chats {
		if jid, err = types.ParseJID(kept[0].chat); err != nil {
			return nil, fmt.Errorf("phone: read chat: %w", err)
		}
		where, ok, err := p.s.config.Chats.At(ctx, jid)
		if err != nil {
			return nil, err
		}
		if !ok || where.Person != with.Person || (where.Group == nil) != (with.Group == nil) || where.Group != nil && where.Group.JID() != with.Group.JID() {
			continue
		}
		if known := slices.IndexFunc(kept, func(of *storedMessage) bool { return of.id == asked.GetOldestMsgID() }); known >= 0 {
			return kept[known+1:], nil
		}
		// The field's name says milliseconds, and clients send seconds.
		return slices.DeleteFunc(kept, func(of *storedMessage) bool { return of.at/1000 >= asked.GetOldestMsgTimestampMS() }), nil
	}
	return nil, nil
}
