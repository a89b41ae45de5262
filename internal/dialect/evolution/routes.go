// The table of operations.

package evolution

import (
	"maps"
	"net/http"
	"strings"
)

// operation is what a path stands for. Behind the path is the name of an instance.
type operation struct {
	do      func(c *call) (any, error)
	status  int    // of the answer
	media   string // the field of the body that may be a file
	none    bool   // it is of no instance
	refused string // why it can't be done, and what to do; empty: it can
}

// reads is an operation that answers 200, creates one that answers 201.
func reads(do func(c *call) (any, error)) operation { return operation{do: do, status: http.StatusOK} }

func creates(do func(c *call) (any, error)) operation {
	return operation{do: do, status: http.StatusCreated}
}

// with is the same operation with a file in a field.
func (o operation) with(media string) operation { o.media = media; return o }

// ofNone is the same operation without an instance.
func (o operation) ofNone() operation { o.none = true; return o }

// never is an operation that can't be done.
func never(why string) operation { return operation{refused: why} }

// operations are all of them, by method and path.
func operations() map[string]operation {
	all := map[string]operation{}
	for _, some := range []map[string]operation{ofInstances(), ofMessages(), ofChats(), ofProfiles(), ofGroups(), ofWebhooks(), refused()} {
		maps.Copy(all, some)
	}
	return all
}

func ofInstances() map[string]operation {
	return map[string]operation{
		"GET /instance/fetchInstances":  reads((*call).fetchInstances).ofNone(),
		"POST /instance/create":         creates((*call).createInstance).ofNone(),
		"GET /instance/connect":         reads((*call).connect),
		"GET /instance/connectionState": reads((*call).connectionState),
		"POST /instance/restart":        reads((*call).restart),
		"DELETE /instance/logout":       reads((*call).logout),
		"DELETE /instance/delete":       reads((*call).deleteInstance),
		"POST /instance/setPresence":    creates((*call).setPresence),
		"POST /settings/set":            creates((*call).setSettings),
		"GET /settings/find":            reads((*call).findSettings),
		"POST /proxy/set":               creates((*call).setProxy),
		"GET /proxy/find":               reads((*call).findProxy),
	}
}

func ofMessages() map[string]operation {
	return map[string]operation{
		"POST /message/sendText":          creates((*call).sendText),
		"POST /message/sendMedia":         creates((*call).sendMedia).with("media"),
		"POST /message/sendWhatsAppAudio": creates((*call).sendVoice).with("audio"),
		"POST /message/sendPtv":           creates((*call).sendVideoNote).with("video"),
		"POST /message/sendSticker":       creates((*call).sendSticker).with("sticker"),
		"POST /message/sendLocation":      creates((*call).sendLocation),
		"POST /message/sendContact":       creates((*call).sendContact),
		"POST /message/sendPoll":          creates((*call).sendPoll),
		"POST /message/sendButtons":       creates((*call).sendButtons),
		"POST /message/sendList":          creates((*call).sendList),
		"POST /message/sendTemplate":      creates((*call).sendTemplate),
		"POST /message/sendReaction":      creates((*call).sendReaction),
		"POST /message/sendStatus":        creates((*call).sendStatus).with("content"),
	}
}

func ofChats() map[string]operation {
	return map[string]operation{
		"POST /chat/whatsappNumbers":            reads((*call).checkNumbers),
		"POST /chat/findChats":                  reads((*call).findChats),
		"POST /chat/findMessages":               reads((*call).findMessages),
		"POST /chat/findStatusMessage":          reads((*call).findStatus),
		"POST /chat/findContacts":               reads((*call).findContacts),
		"POST /chat/markMessageAsRead":          creates((*call).markRead),
		"POST /chat/markChatUnread":             creates((*call).markUnread),
		"POST /chat/archiveChat":                creates((*call).archive),
		"DELETE /chat/deleteMessageForEveryone": creates((*call).deleteMessage),
		"POST /chat/updateMessage":              reads((*call).editMessage),
		"POST /chat/sendPresence":               creates((*call).sendPresence),
		"POST /chat/updateBlockStatus":          creates((*call).block),
		"POST /chat/getBase64FromMediaMessage":  creates((*call).fileOfMessage),
	}
}

func ofProfiles() map[string]operation {
	return map[string]operation{
		"POST /chat/fetchProfilePictureUrl": reads((*call).fetchPicture),
		"POST /chat/fetchProfile":           reads((*call).fetchProfile),
		"POST /chat/fetchBusinessProfile":   reads((*call).fetchBusiness),
		"POST /chat/updateProfileName":      reads((*call).setName),
		"POST /chat/updateProfileStatus":    reads((*call).setAbout),
		"POST /chat/updateProfilePicture":   reads((*call).setPicture).with("picture"),
		"DELETE /chat/removeProfilePicture": reads((*call).removePicture),
		"GET /chat/fetchPrivacySettings":    reads((*call).privacy),
		"POST /chat/updatePrivacySettings":  creates((*call).setPrivacy),
	}
}

func ofGroups() map[string]operation {
	return map[string]operation{
		"POST /group/create":                 creates((*call).createGroup),
		"POST /group/updateGroupSubject":     creates((*call).setSubject),
		"POST /group/updateGroupDescription": creates((*call).setDescription),
		"POST /group/updateGroupPicture":     creates((*call).setGroupPicture).with("image"),
		"POST /group/updateSetting":          creates((*call).setGroupSetting),
		"POST /group/toggleEphemeral":        creates((*call).setDisappearing),
		"GET /group/participants":            reads((*call).participants),
		"POST /group/updateParticipant":      creates((*call).changeParticipants),
		"GET /group/inviteInfo":              reads((*call).inviteInfo),
		"GET /group/findGroupInfos":          reads((*call).groupInfo),
		"GET /group/fetchAllGroups":          reads((*call).allGroups),
		"GET /group/inviteCode":              reads((*call).inviteCode),
		"POST /group/revokeInviteCode":       creates((*call).revokeInvite),
		"POST /group/sendInvite":             reads((*call).sendInvite),
		"GET /group/acceptInviteCode":        reads((*call).acceptInvite),
		"DELETE /group/leaveGroup":           reads((*call).leaveGroup),
	}
}

func ofWebhooks() map[string]operation {
	return map[string]operation{
		"POST /webhook/set": creates((*call).setWebhook),
		"GET /webhook/find": reads((*call).findWebhook),
	}
}

// refused are operations that the gateway does not have, each with the reason and what to do instead.
func refused() map[string]operation {
	const (
		templates = "Templates are made with Recado's own API: POST /api/templates; sendTemplate sends them"
		broker    = "Recado has no such sink: receive the events by a webhook (webhook/set) and publish them from there"
		bots      = "Recado runs no bots: let the bot receive the events by a webhook (webhook/set), and answer through the API"
		chatwoot  = "Recado has no connector to Chatwoot: receive the events by a webhook (webhook/set)"
	)
	why := map[string]operation{}
	for tools, reason := range map[string]string{
		"rabbitmq sqs nats kafka pusher websocket":           broker,
		"typebot openai dify n8n evoai flowise evolutionBot": bots,
		"chatwoot": chatwoot,
		"template": templates,
	} {
		for tool := range strings.FieldsSeq(tools) {
			for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete} {
				why[method+" /"+tool] = never(reason)
			}
		}
	}
	return why
}
