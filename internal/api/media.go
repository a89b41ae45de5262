package api

import (
	"context"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/messaging"
)

// Captioned is the field of the media that can have a caption.
type Captioned struct {
	Caption string `json:"caption,omitempty" maxLength:"1024" doc:"Text below the media, at most 1,024 characters." example:"The new model"`

	Mentioning
}

// Vanishing is the field of the media that can vanish.
type Vanishing struct {
	ViewOnce bool `json:"viewOnce,omitempty" default:"false" doc:"Whether the recipient can open the media only once." example:"false"`
}

type imageBody struct {
	Addressee

	Image string `json:"image" minLength:"1" format:"media" doc:"The image: a base64 data URI, an http(s) URL, or an upload (upload:<id>)." example:"https://shop.example/model.jpg"`

	Captioned
	Reply
	Vanishing
	Outgoing
}

type videoBody struct {
	Addressee

	Video string `json:"video" minLength:"1" format:"media" doc:"The video: a base64 data URI, an http(s) URL, or an upload (upload:<id>)." example:"https://shop.example/model.mp4"`

	Captioned
	Reply
	Vanishing
	Outgoing
}

type videoNoteBody struct {
	Addressee

	Video string `json:"video" minLength:"1" format:"media" doc:"The video, ideally square and of a minute at most: a base64 data URI, an http(s) URL, or an upload (upload:<id>)." example:"https://shop.example/hello.mp4"`

	Reply
	Outgoing
}

type voiceNoteBody struct {
	Addressee

	Audio string `json:"audio" minLength:"1" format:"media" doc:"The audio, ideally OGG with Opus: a base64 data URI, an http(s) URL, or an upload (upload:<id>)." example:"https://shop.example/thanks.ogg"`

	Reply
	Vanishing
	Outgoing
}

type audioFileBody struct {
	Addressee

	Audio string `json:"audio" minLength:"1" format:"media" doc:"The audio: a base64 data URI, an http(s) URL, or an upload (upload:<id>)." example:"https://shop.example/jingle.mp3"`

	Reply
	Outgoing
}

type documentBody struct {
	Addressee

	Document string `json:"document" minLength:"1" format:"media" doc:"A file of any kind: a base64 data URI, an http(s) URL, or an upload (upload:<id>)." example:"https://shop.example/invoice.pdf"`

	Captioned

	FileName string `json:"fileName,omitempty" doc:"Name to display. If left out: the last part of the URL, or else \"document\" with the usual extension." example:"invoice-1234.pdf"`

	Reply
	Outgoing
}

type stickerBody struct {
	Addressee

	Sticker string `json:"sticker" minLength:"1" format:"media" doc:"A WebP picture, ideally 512x512 pixels with transparency: a base64 data URI, an http(s) URL, or an upload (upload:<id>)." example:"https://shop.example/thanks.webp"`
	Convert bool   `json:"convert,omitempty" fingerprint:"if set" default:"false" doc:"Make a sticker of a PNG, JPEG, GIF, MP4 or WebM, which are refused otherwise. Of a GIF or video it is an animated one, of the first 6 seconds. Needs ffmpeg on the gateway's machine." sample:"-"`

	LaterReply
	Outgoing
}

func (s sending) image() contract.Endpoint {
	return sendMedia(s, contract.Operation{
		ID: "sendImage", Summary: "Send an image",
		Description: "Takes JPEG, PNG, WebP or GIF. An animated GIF is sent as a video that plays without end, if ffmpeg is on the gateway's machine. ",
	}, gateway.TypeImage, func(b imageBody) messaging.MediaParams {
		return messaging.MediaParams{Field: "image", Input: b.Image, Caption: b.Caption, ViewOnce: b.ViewOnce}
	})
}

func (s sending) video() contract.Endpoint {
	return sendMedia(s, contract.Operation{
		ID: "sendVideo", Summary: "Send a video",
	}, gateway.TypeVideo, func(b videoBody) messaging.MediaParams {
		return messaging.MediaParams{Field: "video", Input: b.Video, Caption: b.Caption, ViewOnce: b.ViewOnce}
	})
}

func (s sending) videoNote() contract.Endpoint {
	return sendMedia(s, contract.Operation{
		ID: "sendVideoNote", Summary: "Send a video note",
		Description: "Phones show it round, like one that was recorded in the chat, and without a caption. ",
	}, gateway.TypeVideo, func(b videoNoteBody) messaging.MediaParams {
		return messaging.MediaParams{Field: "video", Input: b.Video, Note: true}
	})
}

func (s sending) voiceNote() contract.Endpoint {
	return sendMedia(s, contract.Operation{
		ID: "sendVoiceNote", Summary: "Send a voice note",
		Description: "The recipient gets a voice message. ",
	}, gateway.TypeVoice, func(b voiceNoteBody) messaging.MediaParams {
		return messaging.MediaParams{Field: "audio", Input: b.Audio, ViewOnce: b.ViewOnce}
	})
}

func (s sending) audioFile() contract.Endpoint {
	return sendMedia(s, contract.Operation{
		ID: "sendAudioFile", Summary: "Send an audio file",
		Description: "The recipient gets a file that can be played. ",
	}, gateway.TypeAudio, func(b audioFileBody) messaging.MediaParams {
		return messaging.MediaParams{Field: "audio", Input: b.Audio}
	})
}

func (s sending) document() contract.Endpoint {
	return sendMedia(s, contract.Operation{
		ID: "sendDocument", Summary: "Send a document",
	}, gateway.TypeDocument, func(b documentBody) messaging.MediaParams {
		return messaging.MediaParams{Field: "document", Input: b.Document, Caption: b.Caption, FileName: b.FileName}
	})
}

func (s sending) sticker() contract.Endpoint {
	return sendMedia(s, contract.Operation{
		ID: "sendSticker", Summary: "Send a sticker",
	}, gateway.TypeSticker, func(b stickerBody) messaging.MediaParams {
		return messaging.MediaParams{Field: "sticker", Input: b.Sticker, Convert: b.Convert}
	})
}

// sendMedia is handleSend for media of one kind: the file that the body held as a data URI, or else
// the one behind the URL in params.
func sendMedia[T any](s sending, op contract.Operation, kind gateway.MessageType, params func(body T) messaging.MediaParams) contract.Endpoint {
	op.Description += "The type of the file is detected from its content; the type in a data URI or from a server is ignored. "
	op.Codes = append(op.Codes, gateway.CodeMediaFetchFailed)
	return handleSend(s, op, func(ctx context.Context, request messaging.Request, body T) (messaging.Result, error) {
		given := params(body)
		if inline := contract.Media(ctx); inline != nil {
			given.Input, given.Decoded = "", inline
		}
		return s.use.SendMedia(ctx, request, kind, given)
	})
}
