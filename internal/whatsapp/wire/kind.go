package wire

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/recado-project/recado/internal/gateway"
)

// reader returns the type of content of one kind, and its text or caption.
type reader func(content *waE2E.Message) (gateway.MessageType, string)

// readers read what people and businesses write, by the field of a message that it is in. A test
// holds that every field of the protocol is here, among the wrappings, in silent or in unreadable.
//
//nolint:gochecknoglobals // a table that nobody writes
var readers map[protoreflect.Name]reader

func init() { //nolint:gochecknoinits // some read what is in others, so they name the table
	readers = map[protoreflect.Name]reader{
		"conversation": func(m *waE2E.Message) (gateway.MessageType, string) { return gateway.TypeText, m.GetConversation() },
		"extendedTextMessage": func(m *waE2E.Message) (gateway.MessageType, string) {
			return gateway.TypeText, m.GetExtendedTextMessage().GetText()
		},
		"imageMessage": func(m *waE2E.Message) (gateway.MessageType, string) {
			return gateway.TypeImage, m.GetImageMessage().GetCaption()
		},
		"videoMessage": func(m *waE2E.Message) (gateway.MessageType, string) {
			return gateway.TypeVideo, m.GetVideoMessage().GetCaption()
		},
		"ptvMessage": func(m *waE2E.Message) (gateway.MessageType, string) { // the round ones
			return gateway.TypeVideo, m.GetPtvMessage().GetCaption()
		},
		"audioMessage": func(m *waE2E.Message) (gateway.MessageType, string) {
			if m.GetAudioMessage().GetPTT() {
				return gateway.TypeVoice, ""
			}
			return gateway.TypeAudio, ""
		},
		"documentMessage": func(m *waE2E.Message) (gateway.MessageType, string) {
			return gateway.TypeDocument, m.GetDocumentMessage().GetCaption()
		},
		"stickerMessage": func(*waE2E.Message) (gateway.MessageType, string) { return gateway.TypeSticker, "" },
		"locationMessage": func(m *waE2E.Message) (gateway.MessageType, string) {
			return gateway.TypeLocation, m.GetLocationMessage().GetComment()
		},
		"liveLocationMessage": func(m *waE2E.Message) (gateway.MessageType, string) {
			return gateway.TypeLocation, m.GetLiveLocationMessage().GetCaption()
		},
		"contactMessage":       func(*waE2E.Message) (gateway.MessageType, string) { return gateway.TypeContact, "" },
		"contactsArrayMessage": func(*waE2E.Message) (gateway.MessageType, string) { return gateway.TypeContact, "" },
		"orderMessage": func(m *waE2E.Message) (gateway.MessageType, string) {
			return gateway.TypeOrder, m.GetOrderMessage().GetMessage()
		},
		"groupInviteMessage": func(m *waE2E.Message) (gateway.MessageType, string) {
			return gateway.TypeGroupInvite, m.GetGroupInviteMessage().GetCaption()
		},
		"eventMessage": func(m *waE2E.Message) (gateway.MessageType, string) {
			return gateway.TypeEvent, m.GetEventMessage().GetName()
		},
		"scheduledCallCreationMessage": func(m *waE2E.Message) (gateway.MessageType, string) {
			return gateway.TypeEvent, m.GetScheduledCallCreationMessage().GetTitle()
		},
		"eventInviteMessage": func(m *waE2E.Message) (gateway.MessageType, string) {
			return gateway.TypeEvent, m.GetEventInviteMessage().GetEventTitle()
		},
		"pollCreationMessage": readPoll, "pollCreationMessageV2": readPoll, "pollCreationMessageV3": readPoll,
		"pollCreationMessageV5": readPoll, "pollCreationMessageV6": readPoll,
		"pollResultSnapshotMessage": func(m *waE2E.Message) (gateway.MessageType, string) {
			return gateway.TypeText, pollResult(m.GetPollResultSnapshotMessage())
		},
		"pollResultSnapshotMessageV3": func(m *waE2E.Message) (gateway.MessageType, string) {
			return gateway.TypeText, pollResult(m.GetPollResultSnapshotMessageV3())
		},
		// What people choose of what a business offers.
		"buttonsResponseMessage": readSelection, "templateButtonReplyMessage": readSelection,
		"listResponseMessage": readSelection, "interactiveResponseMessage": readSelection,
		// What businesses write.
		"templateMessage": readOffer, "highlyStructuredMessage": readOffer, "interactiveMessage": readOffer,
		"buttonsMessage": readOffer, "listMessage": readOffer, "productMessage": readOffer, "invoiceMessage": readOffer,
		"sendPaymentMessage": readPayment, "requestPaymentMessage": readPayment, "declinePaymentRequestMessage": readPayment,
		"cancelPaymentRequestMessage": readPayment, "paymentInviteMessage": readPayment, "paymentReminderMessage": readPayment,
		"splitPaymentMessage": readPayment, "splitPaymentUpdateMessage": readPayment,
		// Invitations to channels, answers to questions in status posts, packs of stickers.
		"newsletterAdminInviteMessage": func(m *waE2E.Message) (gateway.MessageType, string) {
			invite := m.GetNewsletterAdminInviteMessage()
			return gateway.TypeText, cmp.Or(invite.GetCaption(), invite.GetNewsletterName())
		},
		"newsletterFollowerInviteMessageV2": func(m *waE2E.Message) (gateway.MessageType, string) {
			invite := m.GetNewsletterFollowerInviteMessageV2()
			return gateway.TypeText, cmp.Or(invite.GetCaption(), invite.GetNewsletterName())
		},
		"statusQuestionAnswerMessage": func(m *waE2E.Message) (gateway.MessageType, string) {
			return gateway.TypeText, m.GetStatusQuestionAnswerMessage().GetText()
		},
		"questionResponseMessage": func(m *waE2E.Message) (gateway.MessageType, string) {
			return gateway.TypeText, m.GetQuestionResponseMessage().GetText()
		},
		"statusQuotedMessage": func(m *waE2E.Message) (gateway.MessageType, string) {
			return gateway.TypeText, m.GetStatusQuotedMessage().GetText()
		},
		"stickerPackMessage": func(m *waE2E.Message) (gateway.MessageType, string) {
			pack := m.GetStickerPackMessage()
			return gateway.TypeText, strings.TrimSpace(pack.GetName() + "\n" + cmp.Or(pack.GetCaption(), pack.GetPackDescription()))
		},
		"musicMessage": func(m *waE2E.Message) (gateway.MessageType, string) {
			song := m.GetMusicMessage()
			return gateway.TypeText, strings.TrimSpace(song.GetEmbeddedMusic().GetAuthor() + "\n" + song.GetEmbeddedMusic().GetTitle() + "\n" + song.GetSongUri())
		},
		"richResponseMessage": func(m *waE2E.Message) (gateway.MessageType, string) {
			var lines []string
			for _, part := range m.GetRichResponseMessage().GetSubmessages() {
				if part.GetMessageText() != "" {
					lines = append(lines, part.GetMessageText())
				}
			}
			return gateway.TypeText, strings.Join(lines, "\n")
		},
	}
}

func readPoll(content *waE2E.Message) (gateway.MessageType, string) {
	return gateway.TypePoll, pollOf(content).GetName()
}

func readSelection(content *waE2E.Message) (gateway.MessageType, string) {
	text, _ := selectedText(content)
	return gateway.TypeText, text
}

// readOffer reads a message of a business, whose type is that of what stands above its text.
func readOffer(content *waE2E.Message) (gateway.MessageType, string) {
	shown := offerOf(content)
	if content.ProductMessage != nil && productOf(content) != nil {
		return gateway.TypeProduct, shown.text()
	}
	if shown.head == nil && shown.text() == "" && len(shown.buttons) == 0 {
		return gateway.TypeUnsupported, ""
	}
	if shown.head == nil {
		return gateway.TypeText, shown.text()
	}
	kind, above := kindOf(shown.head)
	return kind, strings.TrimSpace(above + "\n" + shown.text())
}

func readPayment(content *waE2E.Message) (gateway.MessageType, string) {
	_, note := paymentOf(content)
	return gateway.TypePayment, note
}

// pollResult writes the result of a poll, with an option and its votes in each line.
func pollResult(poll *waE2E.PollResultSnapshotMessage) string {
	lines := []string{poll.GetName()}
	for _, option := range poll.GetPollVotes() {
		lines = append(lines, fmt.Sprintf("%s: %d", option.GetOptionName(), option.GetOptionVoteCount()))
	}
	return strings.Join(lines, "\n")
}

// kindOf returns the type of content and its text or caption. An unknown kind is not
// dropped: it is "unsupported".
func kindOf(content *waE2E.Message) (gateway.MessageType, string) {
	if field := kindField(content); field != nil {
		return readers[field.Name()](content)
	}
	return gateway.TypeUnsupported, ""
}

// kindField is the field of a message that a reader reads; nil if there is none.
func kindField(content *waE2E.Message) (found protoreflect.FieldDescriptor) {
	if content == nil { // an empty stanza
		return nil
	}
	content.ProtoReflect().Range(func(field protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
		if readers[field.Name()] != nil && (found == nil || field.Number() < found.Number()) {
			found = field // of several, always the same
		}
		return true
	})
	return found
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
	// A call that was announced is moved or called off, which only its time tells.
	"scheduledCallEditMessage": true,
	// A comment that could not be opened, as an edit.
	"encCommentMessage": true,
	// Older messages that a member of a group gives to a new one, and the note that says so: the
	// history is read from the phone.
	"messageHistoryBundle": true,
	"messageHistoryNotice": true,
	// How a status post shows the page behind its link.
	"statusLinkPreviewMetadata": true,
	// That somebody has reshared or answered a status post, which is a message of its own.
	"statusNotificationMessage": true,
	// The ringing of a call is an event of its own; this is its stanza.
	"call": true,
}

// unreadable are the kinds of content that a person sees, and of which nothing can be read: they are
// reported as unsupported, with their name.
//
//nolint:gochecknoglobals // a table that nobody writes
var unreadable = map[protoreflect.Name]string{
	"placeholderMessage":              "the platform withholds it from linked devices",
	"requestPhoneNumberMessage":       "it asks to see the number, and has no text",
	"callLogMesssage":                 "it says that there was a call, which has events of its own",
	"bcallMessage":                    "a call to many, which only phones can join",
	"keepInChatMessage":               "somebody keeps a vanishing message, which stays as it is",
	"chat":                            "no client has written it for years",
	"statusStickerInteractionMessage": "a sticker on a status post, which names the sticker by a key",
	"conditionalRevealMessage":        "it is encrypted until its time has come",
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
