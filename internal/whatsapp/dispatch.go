package whatsapp

import (
	"fmt"
	"log/slog"
	"runtime/debug"

	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/profiles"
)

// handle takes every event of whatsmeow. It reports false if something could not be kept:
// then the platform is not told "received", and delivers it again.
func (s *session) handle(event any) (kept bool) {
	leave, open := s.line.Enter(isAcknowledged(event))
	defer leave()
	defer func() {
		// whatsmeow would take a panic for success. The connection goes on: the event
		// would panic again after each delivery, and everything else would wait for it.
		if failure := recover(); failure != nil {
			kept = false
			s.logger.ErrorContext(s.ctx, "panic while an event was handled", slog.String("event", typeName(event)),
				slog.Any("panic", failure), slog.String("stack", string(debug.Stack())))
		}
	}()
	if !open {
		return false
	}
	return s.dispatch(event)
}

// isAcknowledged reports whether the platform waits for an acknowledgement of an event, and
// delivers it again without one.
func isAcknowledged(event any) bool {
	switch event.(type) {
	case *events.Message, *events.Receipt, *events.GroupInfo, *events.JoinedGroup:
		return true
	default:
		return false
	}
}

// dispatch is the one switch over the events of whatsmeow.
func (s *session) dispatch(event any) bool {
	switch event := event.(type) {
	// The connection: signals for the owner.
	case *events.QR:
		s.signals.send(signal{kind: codesGiven, codes: event.Codes})
	case *events.PairSuccess:
		s.signals.send(signal{kind: pairingDone, pairing: event})
	case *events.PairError:
		s.logger.ErrorContext(s.ctx, "linking failed", slog.Any("error", event.Error))
		s.signals.send(signal{kind: pairingFailed})
	case *events.PairPasskeyRequest:
		s.passkeyAsked(event)
	case *events.PairPasskeyConfirmation:
		s.passkeyAgreed(event)
	case *events.PairPasskeyError:
		s.logger.WarnContext(s.ctx, "the platform's question for a passkey failed", slog.Any("error", event.Error))
		s.endPasskey(gateway.PasskeyFailed, "the platform's question was not understood")
	case *events.ManualLoginReconnect:
		s.signals.send(signal{kind: loginWanted})
	case *events.Connected:
		s.signals.send(signal{kind: loggedIn})
	case *events.Disconnected:
		s.signals.send(signal{kind: connectionLost})
	case *events.StreamReplaced:
		s.signals.send(signal{kind: refusal, reason: gateway.ReasonReplaced})
	case *events.TemporaryBan:
		s.signals.send(signal{kind: refusal, reason: gateway.ReasonBanned})
	case *events.ClientOutdated:
		s.signals.send(signal{kind: refusal, reason: gateway.ReasonClientOutdated})
	case *events.ConnectFailure:
		s.refused(event)
	case *events.LoggedOut:
		s.signals.send(loggedOutSignal(event))

	// What is kept: messages, their receipts, the name of the account.
	case *events.Message:
		return s.messageArrived(event)
	case *events.Receipt:
		return s.receiptArrived(event)
	case *events.PushNameSetting:
		return s.named(event.Action.GetName())
	case *events.AppStateSyncComplete:
		return s.chats.Complete(event.Name)
	case *events.Archive, *events.Pin, *events.Mute, *events.MarkChatAsRead, *events.DeleteChat, *events.Star, *events.DeleteForMe:
		return s.chats.Arrived(event)

	case *events.AppState:
		return s.chats.Cleared(event)
	case *events.LabelEdit, *events.LabelAssociationChat, *events.LabelAssociationMessage:
		return s.chats.LabelArrived(event)

	case *events.HistorySync: // read by the session itself, see historyAnnounced

	// What is only reported: presences, groups, contacts, calls.
	case *events.ChatPresence:
		s.contacts.TypingArrived(event)
	case *events.Presence:
		s.contacts.OnlineArrived(event)
	case *events.GroupInfo:
		return s.groupChanged(event)
	case *events.JoinedGroup:
		return s.joinedGroup(event)
	case *events.Picture:
		return s.pictureArrived(event)
	case *events.PushName:
		s.nameArrived(event)
	case *events.BusinessName:
		s.businessNameArrived(event)
	case *events.Contact:
		s.addressBookArrived(event)
	case *events.CallOffer:
		return s.callArrived(event)
	case *events.CallOfferNotice:
		return s.callNoticeArrived(event)
	case *events.CallTerminate:
		return s.callTerminated(event)
	case *events.CallReject:
		return s.callEnded(event.BasicCallMeta, gateway.CallRejected)
	case *events.CallAccept:
		return s.callEnded(event.BasicCallMeta, gateway.CallAccepted)
	case *events.NotifyAccountReachoutTimelock:
		return s.restrictionArrived(event)
	case *events.UserAbout:
		return s.aboutArrived(event)
	case *events.PrivacySettings:
		return s.accountChanged(profiles.PrivacyChange(event, s.line.Now()))
	case *events.Blocklist:
		return s.accountChanged(s.profiles.BlockChanges(event, s.line.Now())...)
	case *events.NewsletterJoin, *events.NewsletterLeave, *events.NewsletterMuteChange:
		change, ok := s.channels.Changed(event)
		return !ok || s.line.Receive(change, "change of a channel")
	case *events.MediaRetry:
		s.files.Answered(event)

	// What went wrong without ending anything.
	case *events.UndecryptableMessage:
		return s.unavailableArrived(event)
	case *events.StreamError:
		s.logger.WarnContext(s.ctx, "platform reported a stream error", slog.String("code", event.Code))
	case *events.AppStateSyncError:
		s.logger.WarnContext(s.ctx, "app state not synchronised", slog.String("collection", string(event.Name)))

	// Known, and of no use here:
	// the connection's own bookkeeping;
	case *events.KeepAliveTimeout, *events.KeepAliveRestored, *events.OfflineSyncPreview, *events.OfflineSyncCompleted,
		*events.IdentityChange, // whatsmeow deals with the new keys itself
		// ways of linking and platforms that are not used;
		*events.QRScannedWithoutMultidevice, *events.CATRefreshError, *events.FBMessage,
		// what else the owner arranges on the phone;
		*events.ClearChat, // its entry comes as an event of its own, see above
		*events.UnarchiveChatsSetting,
		*events.UserStatusMute,
		*events.NewsletterLiveUpdate, // views and reactions, which nobody has subscribed to
		// how the two sides of a call agree.
		*events.CallPreAccept, *events.CallTransport, *events.CallRelayLatency,
		*events.UnknownCallEvent:
	default:
		s.logger.WarnContext(s.ctx, "unknown event of the platform client", slog.String("event", typeName(event)))
	}
	return true
}

// refused ends the session after a login that failed for a reason without an event of its
// own.
func (s *session) refused(event *events.ConnectFailure) {
	s.logger.ErrorContext(s.ctx, "login refused", slog.String("reason", event.Reason.String()))
	s.signals.send(signal{kind: refusal})
}

// loggedOutSignal distinguishes an account that was banned for good from a device that was
// unlinked on the phone: whatsmeow has the same event for both. The keys of a banned
// account stay: a ban may be lifted.
func loggedOutSignal(event *events.LoggedOut) signal {
	if event.OnConnect && event.Reason == events.ConnectFailureUnknownLogout {
		return signal{kind: refusal, reason: gateway.ReasonBanned}
	}
	return signal{kind: unlinked}
}

// named takes the account's name. The first one is no change. A change that can't be kept is one
// still when the name comes again.
func (s *session) named(name string) bool {
	name = gateway.CleanName(name) // any device of the account can write it
	before := s.line.Self().Name
	if name == "" || name == before {
		return true
	}
	if before != "" && !s.accountChanged(gateway.AccountChange{Kind: gateway.AccountNameChanged, Text: name, At: s.line.Now().UTC()}) {
		return false
	}
	s.line.Rename(name)
	s.lifecycle.ProfileChanged(s.ctx, s.profile())
	return true
}

func typeName(value any) string { return fmt.Sprintf("%T", value) }
