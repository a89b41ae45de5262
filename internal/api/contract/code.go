package contract

import (
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/gateway"
)

// Code explains one code of the error body.
type Code struct {
	Name    string
	Kind    gateway.Kind
	Meaning string
}

// Codes lists the codes that the document names, in the order of their statuses.
func Codes() []Code {
	return []Code{
		{gateway.CodeValidation, gateway.Invalid, "A field of the body, the path or the query is missing or wrong. `details` names every such field."},
		{gateway.CodeNotRegistered, gateway.Invalid, "The number has no account on the platform."},
		{gateway.CodeMediaFetchFailed, gateway.Invalid, "The URL could not be fetched, did not answer 2xx, or points to an address that must not be fetched."},
		{gateway.CodeProxyUnreachable, gateway.Invalid, "The proxy can't be reached, or what answers there is not such a proxy."},
		{gateway.CodeProxyAuthFailed, gateway.Invalid, "The proxy does not take the user name and the password of its URL."},
		{gateway.CodeProxyPlatform, gateway.Invalid, "The proxy was reached, but does not reach the platform."},
		{gateway.CodeMessageNotEditable, gateway.Invalid, "The message is not a text, was not sent by this instance, or is deleted."},
		{gateway.CodeEditWindowExpired, gateway.Invalid, "The message is too old to be edited."},
		{gateway.CodeMessageNotDeletable, gateway.Invalid, "The message was not sent by this instance, or is deleted already."},
		{gateway.CodeDeleteWindowExpired, gateway.Invalid, "The message is too old to be deleted."},
		{gateway.CodeMessageNotReactable, gateway.Invalid, "The message came without the secret with which reactions are encrypted in the group in which a community announces."},
		{gateway.CodeMessageHasNoMedia, gateway.Invalid, "The message has no file."},
		{gateway.CodeChannelContent, gateway.Invalid, "Channels take texts and files, and not this."},
		{gateway.CodeStatusAudience, gateway.Invalid, "The owner of the account does not show status posts to these people, or shows them to others as well."},
		{gateway.CodeMessageIsNoEvent, gateway.Invalid, "The message is no calendar event."},
		{gateway.CodeMessageIsNoPoll, gateway.Invalid, "The message is no poll."},
		{gateway.CodeUnauthorized, gateway.Unauthorized, "The API key is missing, unknown, expired or revoked."},
		{gateway.CodePaymentRequired, gateway.PaymentRequired, "The payment of the instance is pending."},
		{gateway.CodeForbidden, gateway.Forbidden, "The API key is valid, but its scope does not include this."},
		{gateway.CodeGroupAdminRequired, gateway.Forbidden, "Only an administrator of the group may do this, and this account is none."},
		{gateway.CodeChannelOwner, gateway.Forbidden, "Only who owns or administers the channel may do this, or who follows it."},
		{gateway.CodeChannelPrivate, gateway.Forbidden, "The channel is private: nobody new may follow it, and only followers may read it."},
		{gateway.CodeChannelBlocked, gateway.Forbidden, "The platform has suspended the channel, everywhere or in the account's country."},
		{gateway.CodeInviteRefused, gateway.Forbidden, "The platform does not let this account into the group of the invite link."},
		{gateway.CodeInstanceNotFound, gateway.NotFound, "There is no such instance."},
		{gateway.CodeMessageNotFound, gateway.NotFound, "The instance has no such message."},
		{gateway.CodeMediaNotFound, gateway.NotFound, "The message has a file, but neither the platform nor the phone has it any more."},
		{gateway.CodeChatNotFound, gateway.NotFound, "The instance has no message of such a chat."},
		{gateway.CodeGroupNotFound, gateway.NotFound, "There is no such group, or this account is not a member of it."},
		{gateway.CodeChannelNotFound, gateway.NotFound, "There is no such channel, or no such post in it."},
		{gateway.CodeCallNotFound, gateway.NotFound, "No such call rings: it has ended, or rang before the gateway was started."},
		{gateway.CodeNotSubscribed, gateway.NotFound, "The instance has no subscription to the presence of this contact, or it has ended."},
		{gateway.CodeInviteNotValid, gateway.NotFound, "The invite link leads to no group."},
		{gateway.CodeWebhookNotFound, gateway.NotFound, "The instance has no such webhook."},
		{gateway.CodeUploadNotFound, gateway.NotFound, "The account has no such upload, or its time is over."},
		{gateway.CodeNotFound, gateway.NotFound, "There is no such path or thing."},
		{gateway.CodeMethodNotAllowed, gateway.MethodNotAllowed, "The path does not have this method; `Allow` lists its methods."},
		{gateway.CodeNotConnected, gateway.Conflict, "The instance is not connected to the platform."},
		{gateway.CodeAlreadyConnected, gateway.Conflict, "The instance is linked and connected: there is nothing to scan."},
		{gateway.CodeWebhookLimit, gateway.Conflict, "The instance, or the account, has as many webhooks as it may have."},
		{gateway.CodeWebhookOfAccount, gateway.Conflict, "The webhook follows one of the account: change or delete that one with a partner key."},
		{gateway.CodeWebhookInactive, gateway.Conflict, "The webhook is not active: it gets no events."},
		{gateway.CodeHistoryPending, gateway.Conflict, "The phone has not answered earlier requests for older messages yet."},
		{gateway.CodeSubscriptionLimit, gateway.Conflict, "The instance has subscribed to the presence of as many contacts as it may."},
		{gateway.CodeExternalNameTaken, gateway.Conflict, "Another instance of the account has this external name."},
		{gateway.CodeKeyValueTaken, gateway.Conflict, "The value that was chosen for an API key is one already, or was."},
		{gateway.CodeUploadLimit, gateway.Conflict, "The uploads of the account take as much space as they may, or there are as many as there may be."},
		{gateway.CodeInstanceLimit, gateway.Conflict, "The account has as many instances as it is allowed."},
		{gateway.CodeIdempotencyConflict, gateway.Conflict, "The Idempotency-Key was used for another request, or the first one is still running."},
		{gateway.CodeMessageBeingSent, gateway.Conflict, "The message is being sent at this moment; it can't be cancelled. Or it waits to be sent, and can't be deleted for this account alone."},
		{gateway.CodeNotSynced, gateway.Conflict, "The phone has not sent the keys of the account's settings yet; try again a moment later."},
		{gateway.CodeProfileRefused, gateway.Conflict, "The platform does not accept this change of the profile."},
		{gateway.CodePrivacyRefused, gateway.Conflict, "The platform does not accept this privacy setting."},
		{gateway.CodeBlockRefused, gateway.Conflict, "The platform does not accept this change of the block list."},
		{gateway.CodeGroupFull, gateway.Conflict, "The group has as many members as it may have."},
		{gateway.CodeGroupRefused, gateway.Conflict, "The platform does not accept this change of the group."},
		{gateway.CodeChannelRefused, gateway.Conflict, "The platform does not accept this for a channel."},
		{gateway.CodeContactRefused, gateway.Conflict, "The platform does not accept this change of the address book."},
		{gateway.CodeChatRefused, gateway.Conflict, "The platform does not accept this change of the chat."},
		{gateway.CodeLabelNotFound, gateway.NotFound, "The instance has no such label."},
		{gateway.CodeLabelRefused, gateway.Conflict, "The platform does not accept this change of a label, or the account has as many labels as it may have."},
		{gateway.CodeTemplateNotFound, gateway.NotFound, "The account has no such template, or not in this language."},
		{gateway.CodeTemplateExists, gateway.Conflict, "The account has a template with this name in this language already."},
		{gateway.CodeTemplateLimit, gateway.Conflict, "The account has as many templates as it may have."},
		{gateway.CodeInviteExpired, gateway.Gone, "The invite link was reset, or has expired."},
		{gateway.CodeChannelGone, gateway.Gone, "The channel was deleted."},
		{gateway.CodeEventsExpired, gateway.Gone, "Retention has removed the events after the given one; the message names the oldest that is kept."},
		{gateway.CodePayloadTooLarge, gateway.TooLarge, "The body, or the file behind a URL, is over the limit."},
		{gateway.CodeOutOfRange, gateway.OutOfRange, "The file behind a download link has no such range; `Content-Range` has its length."},
		{gateway.CodeRateLimited, gateway.RateLimited, "Too many requests in too short a time, too many open streams, or a budget of the instance is used up; `Retry-After` says when to try again."},
		{gateway.CodeRecipientRestricted, gateway.RateLimited, "The platform restricts this account from writing to people who have not written first."},
		{gateway.CodeQueueFull, gateway.RateLimited, "So many messages of the instance wait in the queue that there is no room for another one; `Retry-After` says when to try again."},
		{gateway.CodeInternal, gateway.Internal, "An internal error. The log explains it, under the `X-Request-Id` of the answer."},
		{gateway.CodePlatformError, gateway.PlatformFailed, "The platform refused the request."},
		{gateway.CodeUnavailable, gateway.Unavailable, "The gateway is starting or stopping, handles too many large requests at the moment, can't reach its database, or moves the instance to another node; a repeat does no harm. `Retry-After` says when to try again."},
		{gateway.CodePlatformTimeout, gateway.PlatformTimeout, "The platform did not answer in time. A message may have been sent all the same."},
	}
}

// openEnumExtension lists the values that a text has today; later versions may have others.
const openEnumExtension = "x-extensible-enum"

// partCodes lists the codes of what went wrong with a part of a request, in an answer or an event.
func partCodes() []Code {
	return []Code{
		{Name: gateway.CodeAlreadyParticipant, Meaning: "The person is a member of the group already."},
		{Name: gateway.CodeNotParticipant, Meaning: "The person is not a member of the group."},
		{Name: gateway.CodeParticipantPrivacy, Meaning: "The person lets nobody, or not this account, add them to groups."},
		{Name: gateway.CodeParticipantLeft, Meaning: "The person has left the group a short time ago."},
		{Name: gateway.CodeParticipantRefused, Meaning: "The platform refused this for the person."},
		{Name: gateway.CodeNoJoinRequest, Meaning: "The person does not wait to be let in."},
		{Name: gateway.CodeQueueExpired, Meaning: "The message waited in the queue for too long, and was not sent."},
		{Name: gateway.CodeQueueCancelled, Meaning: "The message was taken out of the queue after an attempt to send it."},
	}
}

// documentCodes adds the schema of codes to the document, and makes the error body refer to it.
// It does not say that there are no others: later versions have more.
func documentCodes(document *Document) {
	var names, meanings []any
	for _, code := range slices.Concat(Codes(), partCodes()) {
		names, meanings = append(names, code.Name), append(meanings, code.Meaning)
	}
	schemas := document.Components.Schemas.Map()
	schemas["Code"] = &huma.Schema{
		Type: huma.TypeString, Description: "What is wrong, for programs. There may be other codes later.",
		Extensions: map[string]any{openEnumExtension: names, "x-enum-descriptions": meanings},
	}
	field := schemas["Error"].Properties["error"]
	field.Type, field.Ref = "", componentsPrefix+"Code"
}

// kindOf returns the kind of a code that the document lists for operations.
func kindOf(name string) gateway.Kind {
	for _, code := range Codes() {
		if code.Name == name {
			return code.Kind
		}
	}
	return gateway.Internal
}
