package api

import (
	"slices"

	"github.com/recado-project/recado/internal/api/calls"
	"github.com/recado-project/recado/internal/api/channels"
	"github.com/recado-project/recado/internal/api/chats"
	"github.com/recado-project/recado/internal/api/contacts"
	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/api/groups"
	"github.com/recado-project/recado/internal/api/labels"
	"github.com/recado-project/recado/internal/api/profiles"
	"github.com/recado-project/recado/internal/api/queues"
	"github.com/recado-project/recado/internal/api/webhooks"
)

// routes is the table of all operations. To add one, add a line here, at the place
// where the reference page should show it, and a function to the file of its resource. Those of groups are in the room groups.
func routes(c Config, origin contract.Origin) []contract.Route {
	get, post, put, patch, del := contract.Get, contract.Post, contract.Put, contract.Patch, contract.Delete
	instances, linking, partner := instances{c.Instances, c.Now}, linking{c.Instances}, newPartnerInstances(c)
	passkey := passkeys{c.Instances}
	send, message, files := sending{c.Messages}, messages{c.Messages}, files{c.Messages, c.Files, c.Instances, c.requests, origin}
	people, webhook := people{c.Directory}, webhooks.New(c.Webhooks)
	waiting, chat := queues.Resource{Use: c.Queue, Tag: tagMessages}, chats.Resource{Use: c.Chats, Now: c.Now}
	events, keys, health := newStreams(c), keys{c.Access, c.Instances, c.Now}, health{c.Ready, c.ClientVersion}
	limits := instanceLimits{c.Directory, c.Queue, c.Messages, c.Now}
	return slices.Concat([]contract.Route{
		get("/api/instances", instances.list()),
		get("/api/instances/{instanceId}", instances.get()),
		patch("/api/instances/{instanceId}", instances.change()),
		get("/api/instances/{instanceId}/limits", limits.get()),
		get("/api/instances/{instanceId}/qr", linking.qrCode()),
		post("/api/instances/{instanceId}/pairing-code", linking.pairingCode()),
		get("/api/instances/{instanceId}/passkey", passkey.get()),
		post("/api/instances/{instanceId}/passkey", passkey.answer()),
		post("/api/instances/{instanceId}/passkey/confirm", passkey.confirm()),
		post("/api/instances/{instanceId}/restart", instances.restart()),
		post("/api/instances/{instanceId}/logout", instances.logout()),
		post("/api/instances/{instanceId}/check-numbers", people.checkNumbers()),
		post("/api/instances/{instanceId}/presence", people.sendPresence()),
		get("/api/instances/{instanceId}/contacts/{phone}/profile-picture", people.profilePicture()),
		post("/api/instances/{instanceId}/contacts/{phone}/block", people.block()),
		del("/api/instances/{instanceId}/contacts/{phone}/block", people.unblock()),
	}, contacts.Routes(c.Contacts, c.Presences), profiles.Routes(c.Profiles, c.Directory), calls.Routes(c.Calls), groups.Routes(c.Groups), channels.Routes(c.Channels), labels.Routes(c.Labels), []contract.Route{
		post("/api/message/{instanceId}/text", send.text()),
		post("/api/message/{instanceId}/image", send.image()),
		post("/api/message/{instanceId}/video", send.video()),
		post("/api/message/{instanceId}/video-note", send.videoNote()),
		post("/api/message/{instanceId}/audio-note", send.voiceNote()),
		post("/api/message/{instanceId}/audio-file", send.audioFile()),
		post("/api/message/{instanceId}/document", send.document()),
		post("/api/message/{instanceId}/album", send.album()),
		post("/api/message/{instanceId}/sticker", send.sticker()),
		post("/api/message/{instanceId}/status/text", send.statusText()),
		post("/api/message/{instanceId}/status/image", send.statusImage()),
		post("/api/message/{instanceId}/status/video", send.statusVideo()),
		post("/api/message/{instanceId}/status/audio-note", send.statusVoice()),
		get("/api/instances/{instanceId}/status", chat.Posts()),
		post("/api/message/{instanceId}/location", send.location()),
		post("/api/message/{instanceId}/contact", send.contact()),
		post("/api/message/{instanceId}/poll", send.poll()),
		get("/api/message/{instanceId}/{messageId}/votes", message.votes()),
		post("/api/message/{instanceId}/event", send.event()),
		post("/api/message/{instanceId}/{messageId}/cancel", message.cancelEvent()),
		post("/api/message/{instanceId}/{messageId}/pin", message.pin()),
		del("/api/message/{instanceId}/{messageId}/pin", message.unpin()),
		post("/api/message/{instanceId}/forward", send.forward()),
		get("/api/instances/{instanceId}/chats", chat.List()),
		get("/api/instances/{instanceId}/chats/{chatId}", chat.Get()),
		patch("/api/instances/{instanceId}/chats/{chatId}", chat.Change()),
		del("/api/instances/{instanceId}/chats/{chatId}", chat.Delete()),
		get("/api/instances/{instanceId}/chats/{chatId}/messages", chat.Messages()),
		post("/api/instances/{instanceId}/chats/{chatId}/history", chat.Older()),
		get("/api/message/{instanceId}/{messageId}", chat.Message()),
		post("/api/message/{instanceId}/{messageId}/star", chat.Star()),
		del("/api/message/{instanceId}/{messageId}/star", chat.Unstar()),
		del("/api/message/{instanceId}/{messageId}/for-me", chat.DeleteForMe()),
		get("/api/instances/{instanceId}/queue", waiting.List()),
		del("/api/instances/{instanceId}/queue", waiting.CancelAll()),
		get("/api/instances/{instanceId}/queue/{messageId}", waiting.Get()),
		del("/api/instances/{instanceId}/queue/{messageId}", waiting.Cancel()),
		post("/api/message/{instanceId}/edit", message.edit()),
		post("/api/message/{instanceId}/read", message.markRead()),
		del("/api/message/{instanceId}/delete", message.delete()),
		post("/api/message/{instanceId}/reaction", message.react()),
		get("/api/message/{instanceId}/media-download-link/{messageId}", files.downloadLink()),
		get("/media/{key...}", files.download()),
		post("/api/instances/{instanceId}/webhook-config", webhook.SaveConfig()),
		get("/api/instances/{instanceId}/webhook-config", webhook.GetConfig()),
		del("/api/instances/{instanceId}/webhook-config", webhook.DeleteConfig()),
		get("/api/instances/{instanceId}/webhook-config/deliveries", webhook.ListConfigDeliveries()),
		post("/api/instances/{instanceId}/webhook-config/replay", webhook.ReplayConfig()),
		post("/api/instances/{instanceId}/webhook-config/resume", webhook.ResumeConfig()),
		post("/api/instances/{instanceId}/webhook-config/test", webhook.TestConfig()),
		post("/api/instances/{instanceId}/webhooks", webhook.Create()),
		get("/api/instances/{instanceId}/webhooks", webhook.List()),
		get("/api/instances/{instanceId}/webhooks/{webhookId}", webhook.Get()),
		patch("/api/instances/{instanceId}/webhooks/{webhookId}", webhook.Change()),
		del("/api/instances/{instanceId}/webhooks/{webhookId}", webhook.Delete()),
		get("/api/instances/{instanceId}/webhooks/{webhookId}/deliveries", webhook.ListDeliveries()),
		post("/api/instances/{instanceId}/webhooks/{webhookId}/replay", webhook.Replay()),
		post("/api/instances/{instanceId}/webhooks/{webhookId}/resume", webhook.Resume()),
		post("/api/instances/{instanceId}/webhooks/{webhookId}/test", webhook.Test()),
		get("/api/instances/{instanceId}/events", events.stream()),
		post("/api/partner/instances", partner.create()),
		del("/api/partner/instances/{instanceId}", partner.delete()),
		post("/api/partner/instances/{instanceId}/stop", partner.stop()),
		put("/api/partner/instances/{instanceId}/payment", partner.setPayment()),
		post("/api/partner/api-keys", keys.create()),
		get("/api/partner/api-keys", keys.list()),
		del("/api/partner/api-keys/{id}", keys.revoke()),
	}, webhooks.AccountRoutes(c.AccountWebhooks), []contract.Route{
		get("/healthz", health.alive()),
		get("/readyz", health.ready()),
	})
}
