// The table of all pages and actions.

package dashboard

import (
	"net/http"

	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/user"
	"github.com/recado-project/recado/internal/web"
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
	instance := livePage[instanceView]{p, "instance", queueAge, p.instanceView}
	chats := livePage[chatsView]{p, "chats", 0, p.chatsView}
	queue := livePage[queueView]{p, "queue", queueAge, p.queueView}
	webhook := livePage[webhookView]{p, "webhook", deliveryAge, p.webhookView}
	deliveries := livePage[deliveriesView]{p, "deliveries", deliveryAge, p.deliveriesView}
	events := livePage[eventsView]{p, "events", 0, p.eventsView}
	of := p.of
	withFile := func(route frame.Route) frame.Route {
		route.MaxBody = p.MaxMedia + frame.MaxFields
		return route
	}
	return []frame.Route{
		read("/{$}", p.start),
		read("/instances", p.listInstances),
		live("/instances/live", p.liveInstances),
		act("/instances", user.ActionInstanceCreated, p.createInstance),

		read(one, of(p.showInstance)),
		live(one+"/live", of(instance.update)),
		read(one+"/picture", of(p.showPicture)),
		act(one+"/settings", user.ActionInstanceChanged, of(p.changeInstance)),
		act(one+"/link", user.ActionInstanceLinking, of(p.linkInstance)),
		act(one+"/pairing-code", user.ActionInstanceLinking, of(p.showPairingCode)),
		act(one+"/passkey", user.ActionInstancePasskey, of(p.answerPasskey)),
		act(one+"/passkey/confirm", user.ActionInstancePasskey, of(command{p.Instances.ConfirmPasskey, web.Word("Confirmed here.")}.handle)),
		act(one+"/restart", user.ActionInstanceRestarted, of(command{p.Instances.Restart, web.Word("Restarting…")}.handle)),
		act(one+"/stop", user.ActionInstanceStopped, of(command{p.Instances.Stop, web.Word("Stopped.")}.handle)),
		act(one+"/logout", user.ActionInstanceLoggedOut, of(command{p.Instances.Logout, web.Word("Logged out.")}.handle)),
		act(one+"/delete", user.ActionInstanceDeleted, of(p.deleteInstance)),

		read(one+"/chats", of(p.showChats)),
		live(one+"/chats/live", of(chats.update)),
		act(one+"/chats/arrange", user.ActionChatArranged, of(p.arrangeChat)),
		act(one+"/chats/label", user.ActionChatArranged, of(p.labelChat)),
		read(one+"/chats/older", of(p.showOlder)),
		act(one+"/chats/presence", "", of(p.tellPresence)),
		read(one+"/messages/{messageId}/file", of(p.showFile)),
		read(one+"/messages/{messageId}/text", of(p.showText)),
		{Method: http.MethodGet, Path: one + "/messages/{messageId}", Role: gateway.RoleOperator, Handle: of(p.showMessage)},
		act(one+"/messages/{messageId}/reaction", user.ActionMessageChanged, of(messageDeed{p, p.react}.handle)),
		act(one+"/messages/{messageId}/edit", user.ActionMessageChanged, of(messageDeed{p, p.edit}.handle)),
		act(one+"/messages/{messageId}/delete", user.ActionMessageChanged, of(messageDeed{p, p.remove}.handle)),
		act(one+"/messages/{messageId}/star", user.ActionMessageChanged, of(messageDeed{p, p.star}.handle)),
		act(one+"/messages/{messageId}/forward", user.ActionMessageSent, of(messageDeed{p, p.forward}.handle)),
		withFile(act(one+"/messages", user.ActionMessageSent, p.sendMessage)),

		read(one+"/contacts", of(p.showContacts)),
		read(one+"/contacts/{phone}", of(p.showContact)),
		act(one+"/contacts/{phone}/name", user.ActionContactNamed, of(p.nameContact)),

		read(one+"/groups", of(p.showGroups)),
		read(one+"/groups/{groupId}", of(p.showGroup)),

		read(one+"/channels", of(p.showChannels)),
		act(one+"/channels", user.ActionChannelChanged, of(p.followChannel)),
		read(one+"/channels/{channelId}", of(p.showChannel)),
		act(one+"/channels/{channelId}", user.ActionChannelChanged, of(p.changeChannel)),

		read(one+"/account", of(p.showAccount)),
		act(one+"/account/profile", user.ActionInstanceChanged, of(p.changeProfile)),
		withFile(act(one+"/account/picture", user.ActionInstanceChanged, of(p.changePicture))),
		act(one+"/account/privacy", user.ActionInstanceChanged, of(p.changePrivacy)),
		act(one+"/account/calls", user.ActionInstanceChanged, of(p.changeCalls)),
		act(one+"/account/block", user.ActionInstanceChanged, of(p.block)),
		act(one+"/account/status", user.ActionMessageSent, of(p.postStatus)),

		read(one+"/queue", of(queue.show)),
		live(one+"/queue/live", of(queue.update)),
		act(one+"/queue/cancel", user.ActionQueueCancelled, of(p.cancelQueue)),
		act(one+"/queue/{messageId}/cancel", user.ActionMessageCancelled, of(p.cancelQueued)),

		read(one+"/code", of(p.showCode)),

		read(one+"/webhook", of(p.showWebhook)),
		live(one+"/webhook/live", of(webhook.update)),
		act(one+"/webhook", user.ActionWebhookSaved, of(p.saveWebhook)),
		act(one+"/webhook/delete", user.ActionWebhookDeleted, of(p.deleteWebhook)),
		act(one+"/webhook/test", user.ActionWebhookTested, of(p.testWebhook)),
		act(one+"/webhook/resume", user.ActionWebhookResumed, of(p.resumeWebhook)),
		act(one+"/webhook/replay", user.ActionWebhookReplayed, of(p.replayWebhook)),
		read(one+"/webhook/deliveries", of(deliveries.show)),
		live(one+"/webhook/deliveries/live", of(deliveries.update)),

		read(one+"/events", of(events.show)),
		live(one+"/events/live", of(events.update)),
		read(one+"/events/{sequence}", of(p.showEvent)),
		act(one+"/events/{sequence}/redeliver", user.ActionWebhookReplayed, of(p.redeliver)),

		own(http.MethodGet, "/keys", "", p.showKeys),
		own(http.MethodGet, "/keys/new", "", p.showNewKey),
		own(http.MethodPost, "/keys", user.ActionKeyCreated, p.createKey),
		own(http.MethodPost, "/keys/{keyId}/revoke", user.ActionKeyRevoked, p.revokeKey),

		// For owners: those who may hear all instances hear also those that others make.
		own(http.MethodGet, accountWebhooksPath, "", p.showAccountWebhooks),
		own(http.MethodGet, accountWebhooksPath+"/"+another, "", p.showNewAccountWebhook),
		own(http.MethodPost, accountWebhooksPath, user.ActionWebhookSaved, p.createAccountWebhook),
		own(http.MethodPost, accountWebhooksPath+"/app-secret", user.ActionAppSecretChanged, p.changeAppSecret),
		own(http.MethodGet, accountWebhooksPath+"/{webhookId}", "", p.showAccountWebhook),
		own(http.MethodPost, accountWebhooksPath+"/{webhookId}", user.ActionWebhookSaved, p.changeAccountWebhook),
		own(http.MethodPost, accountWebhooksPath+"/{webhookId}/delete", user.ActionWebhookDeleted, p.deleteAccountWebhook),

		read("/health", p.showHealth),
		live("/health/live", p.liveHealth),
	}
}
