package wire

import (
	"strconv"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/recado-project/recado/internal/gateway"
)

// kindOf returns the type of content and its text or caption. An unknown kind is not
// dropped: it is "unsupported".
func kindOf(content *waE2E.Message) (gateway.MessageType, string) {
	switch {
	case content == nil: // an empty stanza
		return gateway.TypeUnsupported, ""
	case content.Conversation != nil:
		return gateway.TypeText, content.GetConversation()
	case content.ExtendedTextMessage != nil:
		return gateway.TypeText, content.GetExtendedTextMessage().GetText()
	case content.ImageMessage != nil:
		return gateway.TypeImage, content.GetImageMessage().GetCaption()
	case content.VideoMessage != nil:
		return gateway.TypeVideo, content.GetVideoMessage().GetCaption()
	case content.PtvMessage != nil: // the round ones
		return gateway.TypeVideo, content.GetPtvMessage().GetCaption()
	case content.AudioMessage != nil:
		if content.GetAudioMessage().GetPTT() {
			return gateway.TypeVoice, ""
		}
		return gateway.TypeAudio, ""
	case content.DocumentMessage != nil:
		return gateway.TypeDocument, content.GetDocumentMessage().GetCaption()
	case content.StickerMessage != nil:
		return gateway.TypeSticker, ""
	case content.LocationMessage != nil, content.LiveLocationMessage != nil:
		return gateway.TypeLocation, ""
	case content.ContactMessage != nil, content.ContactsArrayMessage != nil:
		return gateway.TypeContact, ""
	case content.OrderMessage != nil:
		return gateway.TypeOrder, content.GetOrderMessage().GetMessage()
	case content.GroupInviteMessage != nil:
		return gateway.TypeGroupInvite, content.GetGroupInviteMessage().GetCaption()
	case content.EventMessage != nil:
		return gateway.TypeEvent, content.GetEventMessage().GetName()
	default:
		if text, ok := selectedText(content); ok {
			return gateway.TypeText, text
		}
		if poll := pollOf(content); poll != nil {
			return gateway.TypePoll, poll.GetName()
		}
		return gateway.TypeUnsupported, ""
	}
}

// nameOf returns the platform's name for the kind of content, "unknown" with a
// number if it is newer than the copy of the protocol here. It is empty for content that
// shows a person nothing: see silent.
func nameOf(content *waE2E.Message) string {
	name := ""
	content.ProtoReflect().Range(func(field protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
		switch {
		case field.Name() == "protocolMessage":
			name = protocolName(content.GetProtocolMessage().GetType())
		case !silent[field.Name()]:
			name = string(field.Name())
		}
		return name == ""
	})
	if unknown := content.ProtoReflect().GetUnknown(); name == "" && len(unknown) > 0 {
		number, _, _ := protowire.ConsumeTag(unknown)
		name = "unknown:" + strconv.Itoa(int(number))
	}
	return name
}

// silent are the parts of a message that show a person nothing by themselves,
// each with the reason why it is no message.
//
//nolint:gochecknoglobals // a table that nobody writes
var silent = map[protoreflect.Name]bool{
	// What travels with messages of every kind.
	"messageContextInfo": true,
	// Keys, which whatsmeow has taken out already.
	"senderKeyDistributionMessage":               true,
	"fastRatchetKeySenderKeyDistributionMessage": true,
	"groupRootKeyShare":                          true,
	"rootSecretDistributeMessage":                true,
	// Reactions: reported as changes. An encrypted one that can't be opened belongs to
	// a message from before this device was linked.
	"reactionMessage":    true,
	"encReactionMessage": true,
	// Votes and answers: they change how a poll or an event looks, and only a device
	// with its secret can read them.
	"pollUpdateMessage":       true,
	"pollAddOptionMessage":    true,
	"encEventResponseMessage": true,
	// An encrypted edit that could not be opened: what it changes is unknown here.
	"secretEncryptedMessage": true,
	// The frame of an album; its pictures follow as messages of their own.
	"albumMessage": true,
	// A request to give stickers again, from device to device.
	"stickerSyncRmrMessage": true,
	// The ringing of a call is an event of its own; this is its stanza.
	"call": true,
}

// protocolName returns the name of a protocol message that a person sees in the
// chat; empty for those that are only between programs.
func protocolName(kind waE2E.ProtocolMessage_Type) string {
	switch kind {
	// Reported as changes of a message; one without a target changes nothing.
	case waE2E.ProtocolMessage_REVOKE, waE2E.ProtocolMessage_MESSAGE_EDIT,
		// Settings of a chat: vanishing messages, sharing, colours, labels.
		waE2E.ProtocolMessage_EPHEMERAL_SETTING, waE2E.ProtocolMessage_EPHEMERAL_SYNC_RESPONSE,
		waE2E.ProtocolMessage_LIMIT_SHARING, waE2E.ProtocolMessage_CHAT_THEME_SETTING,
		waE2E.ProtocolMessage_GROUP_MEMBER_LABEL_CHANGE,
		// Between the devices of one account: history, keys, requests to the phone.
		waE2E.ProtocolMessage_HISTORY_SYNC_NOTIFICATION, waE2E.ProtocolMessage_APP_STATE_SYNC_KEY_SHARE,
		waE2E.ProtocolMessage_APP_STATE_SYNC_KEY_REQUEST, waE2E.ProtocolMessage_MSG_FANOUT_BACKFILL_REQUEST,
		waE2E.ProtocolMessage_INITIAL_SECURITY_NOTIFICATION_SETTING_SYNC,
		waE2E.ProtocolMessage_APP_STATE_FATAL_EXCEPTION_NOTIFICATION,
		waE2E.ProtocolMessage_PEER_DATA_OPERATION_REQUEST_MESSAGE,
		waE2E.ProtocolMessage_PEER_DATA_OPERATION_REQUEST_RESPONSE_MESSAGE,
		waE2E.ProtocolMessage_LID_MIGRATION_MAPPING_SYNC, waE2E.ProtocolMessage_MEDIA_NOTIFY_MESSAGE,
		waE2E.ProtocolMessage_COEX_STATE_SYNC,
		// The number comes with the stanza, and becomes known from there.
		waE2E.ProtocolMessage_SHARE_PHONE_NUMBER,
		// Between a client and the platform's own bots and business programs.
		waE2E.ProtocolMessage_REQUEST_WELCOME_MESSAGE, waE2E.ProtocolMessage_BOT_FEEDBACK_MESSAGE,
		waE2E.ProtocolMessage_BOT_MEMU_ONBOARDING_MESSAGE, waE2E.ProtocolMessage_STOP_GENERATION_MESSAGE,
		waE2E.ProtocolMessage_CLOUD_API_THREAD_CONTROL_NOTIFICATION,
		waE2E.ProtocolMessage_AI_PSI_METADATA, waE2E.ProtocolMessage_AI_QUERY_FANOUT,
		waE2E.ProtocolMessage_AI_MEDIA_COLLECTION_MESSAGE, waE2E.ProtocolMessage_AI_METADATA_OPERATION:
		return ""
	default:
		return "protocolMessage:" + kind.String()
	}
}
