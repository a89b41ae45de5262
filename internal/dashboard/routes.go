// The table of all pages and actions.

package dashboard

import (
	"net/http"

	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/user"
)

// routes is the table: who may do what, and what the audit list calls it.
func (p *pages) routes() []frame.Route {
	const one = "/instances/{instanceId}"
	read := func(path string, handle func(*frame.Request) error) frame.Route {
		return frame.Route{Method: http.MethodGet, Path: path, Role: gateway.RoleViewer, Handle: handle}
	}
	live := func(path string, handle func(*frame.Request) error) frame.Route {
		return frame.Route{Method: http.MethodGet, Path: path, Role: gateway.RoleViewer, Live: true, Handle: handle}
	}
	act := func(path string, action user.Action, handle func(*frame.Request) error) frame.Route {
		return frame.Route{Method: http.MethodPost, Path: path, Role: gateway.RoleOperator, Action: action, Handle: handle}
	}
	own := func(method, path string, action user.Action, handle func(*frame.Request) error) frame.Route {
		return frame.Route{Method: method, Path: path, Role: gateway.RoleOwner, Action: action, Handle: handle}
	}
	withFile := func(route frame.Route) frame.Route {
		route.MaxBody = p.MaxMedia + frame.MaxFields
		return route
	}
	return []frame.Route{
		read("/{$}", p.start),
		read("/instances", p.listInstances),
		live("/instances/live", p.liveInstances),
		act("/instances", user.ActionInstanceCreated, p.createInstance),

		read(one, p.showInstance),
		live(one+"/live", p.liveInstance),
		read(one+"/picture", p.showPicture),
		act(one+"/settings", user.ActionInstanceChanged, p.changeInstance),
		act(one+"/link", user.ActionInstanceLinking, p.linkInstance),
		act(one+"/pairing-code", user.ActionInstanceLinking, p.showPairingCode),
		act(one+"/passkey", user.ActionInstancePasskey, p.answerPasskey),
		act(one+"/passkey/confirm", user.ActionInstancePasskey, p.confirmPasskey),
		act(one+"/restart", user.ActionInstanceRestarted, p.restartInstance),
		act(one+"/stop", user.ActionInstanceStopped, p.stopInstance),
		act(one+"/logout", user.ActionInstanceLoggedOut, p.logOutInstance),
		act(one+"/delete", user.ActionInstanceDeleted, p.deleteInstance),

		read(one+"/chats", p.showChats),
		live(one+"/chats/live", p.liveChats),
		act(one+"/chats/arrange", user.ActionChatArranged, p.arrangeChat),
		act(one+"/chats/label", user.ActionChatArranged, p.labelChat),
		read(one+"/messages/{messageId}/file", p.showFile),
		withFile(act(one+"/messages", user.ActionMessageSent, p.sendMessage)),

		read(one+"/contacts", p.showContacts),
		read(one+"/contacts/{phone}", p.showContact),
		act(one+"/contacts/{phone}/name", user.ActionContactNamed, p.nameContact),

		read(one+"/groups", p.showGroups),
		read(one+"/groups/{groupId}", p.showGroup),

		read(one+"/channels", p.showChannels),
		act(one+"/channels", user.ActionChannelChanged, p.followChannel),
		read(one+"/channels/{channelId}", p.showChannel),
		act(one+"/channels/{channelId}", user.ActionChannelChanged, p.changeChannel),

		read(one+"/account", p.showAccount),
		act(one+"/account/profile", user.ActionInstanceChanged, p.changeProfile),
		withFile(act(one+"/account/picture", user.ActionInstanceChanged, p.changePicture)),
		act(one+"/account/privacy", user.ActionInstanceChanged, p.changePrivacy),
		act(one+"/account/calls", user.ActionInstanceChanged, p.changeCalls),
		act(one+"/account/block", user.ActionInstanceChanged, p.block),
		act(one+"/account/status", user.ActionMessageSent, p.postStatus),

		read(one+"/queue", p.showQueue),
		live(one+"/queue/live", p.liveQueue),
		act(one+"/queue/cancel", user.ActionQueueCancelled, p.cancelQueue),
		act(one+"/queue/{messageId}/cancel", user.ActionMessageCancelled, p.cancelQueued),

		read(one+"/code", p.showCode),

		read(one+"/webhook", p.showWebhook),
		live(one+"/webhook/live", p.liveWebhook),
		act(one+"/webhook", user.ActionWebhookSaved, p.saveWebhook),
		act(one+"/webhook/delete", user.ActionWebhookDeleted, p.deleteWebhook),
		act(one+"/webhook/test", user.ActionWebhookTested, p.testWebhook),
		act(one+"/webhook/resume", user.ActionWebhookResumed, p.resumeWebhook),
		act(one+"/webhook/replay", user.ActionWebhookReplayed, p.replayWebhook),
		read(one+"/webhook/deliveries", p.showDeliveries),
		live(one+"/webhook/deliveries/live", p.liveDeliveries),

		read(one+"/events", p.showEvents),
		live(one+"/events/live", p.liveEvents),
		read(one+"/events/{sequence}", p.showEvent),
		act(one+"/events/{sequence}/redeliver", user.ActionWebhookReplayed, p.redeliver),

		own(http.MethodGet, "/keys", "", p.showKeys),
		own(http.MethodGet, "/keys/new", "", p.showNewKey),
		own(http.MethodPost, "/keys", user.ActionKeyCreated, p.createKey),
		own(http.MethodPost, "/keys/{keyId}/revoke", user.ActionKeyRevoked, p.revokeKey),

		// For owners: those who may hear all instances hear also those that others make.
		own(http.MethodGet, accountWebhooksPath, "", p.showAccountWebhooks),
		own(http.MethodGet, accountWebhooksPath+"/"+another, "", p.showNewAccountWebhook),
		own(http.MethodPost, accountWebhooksPath, user.ActionWebhookSaved, p.createAccountWebhook),
		own(http.MethodGet, accountWebhooksPath+"/{webhookId}", "", p.showAccountWebhook),
		own(http.MethodPost, accountWebhooksPath+"/{webhookId}", user.ActionWebhookSaved, p.changeAccountWebhook),
		own(http.MethodPost, accountWebhooksPath+"/{webhookId}/delete", user.ActionWebhookDeleted, p.deleteAccountWebhook),

		read("/health", p.showHealth),
		live("/health/live", p.liveHealth),
	}
}
