package api

import (
	"context"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/messaging"
)

// Captioned is the field of the media that can have a caption.
type Captioned struct {
	Caption string `json:"caption,omitempty" maxLength:"1024" doc:"Text below it, at most 1,024 characters." example:"The new model"`
}

// Vanishing is the field of the media that can vanish.
type Vanishing struct {
	ViewOnce bool `json:"viewOnce,omitempty" default:"false" doc:"Whether the recipient can open it only once." example:"false"`
}

type imageBody struct {
	Addressee

	Image string `json:"image" minLength:"1" format:"media" doc:"The image: a base64 data URI, or an http(s) URL." example:"https://shop.example/model.jpg"`

	Captioned
	Reply
	Vanishing
}

type videoBody struct {
	Addressee

	Video string `json:"video" minLength:"1" format:"media" doc:"The video: a base64 data URI, or an http(s) URL." example:"https://shop.example/model.mp4"`

	Captioned
	Reply
	Vanishing
}

type voiceBody struct {
	Addressee

	Audio string `json:"audio" minLength:"1" format:"media" doc:"The sound, best as OGG with Opus: a base64 data URI, or an http(s) URL." example:"https://shop.example/thanks.ogg"`

	Reply
	Vanishing
}

type audioBody struct {
	Addressee

	Audio string `json:"audio" minLength:"1" format:"media" doc:"The sound: a base64 data URI, or an http(s) URL." example:"https://shop.example/jingle.mp3"`

	Reply
}

type documentBody struct {
	Addressee

	Document string `json:"document" minLength:"1" format:"media" doc:"A file of any kind: a base64 data URI, or an http(s) URL." example:"https://shop.example/invoice.pdf"`

	Captioned

	FileName string `json:"fileName,omitempty" doc:"Name to display; left out: the last part of the URL, else document and the usual extension." example:"invoice-1234.pdf"`

	Reply
}

type stickerBody struct {
	Addressee

	Sticker string `json:"sticker" minLength:"1" format:"media" doc:"A WebP picture, best of 512x512 pixels and with transparency: a base64 data URI, or an http(s) URL." example:"https://shop.example/thanks.webp"`
}

func (s *service) registerMedia() {
	quoting := gateway.CodeMessageNotFound
	register(s, mediaOperation("image", "sendImage", "Send an image",
		"JPEG, PNG, WebP, or GIF as a still. ").refusing(quoting), s.sendImage)
	register(s, mediaOperation("video", "sendVideo", "Send a video", "").refusing(quoting), s.sendVideo)
	register(s, mediaOperation("audio-note", "sendVoiceNote", "Send a voice note",
		"The audio plays as a recorded voice message. ").refusing(quoting), s.sendVoiceNote)
	register(s, mediaOperation("audio-file", "sendAudioFile", "Send an audio file",
		"The audio is a playable attachment. ").refusing(quoting), s.sendAudioFile)
	register(s, mediaOperation("document", "sendDocument", "Send a document", "").refusing(quoting), s.sendDocument)
	register(s, mediaOperation("sticker", "sendSticker", "Send a sticker", ""), s.sendSticker)
}

// mediaOperation declares the operation that sends one kind of media.
func mediaOperation(kind, id, summary, description string) operation {
	op := sendOperation(kind, id, summary, description+
		"What the file is, is found out from its content, whatever a data URI or a server says. ")
	return op.refusing(gateway.CodeMediaFetchFailed)
}

func (s *service) sendImage(ctx context.Context, in *sendInput[imageBody]) (*sentAnswer, error) {
	return sendMedia(ctx, s, in, in.Given().To, in.Given().QuoteMessageID, gateway.TypeImage, messaging.MediaParams{
		Field: "image", Input: in.Given().Image, Caption: in.Given().Caption, ViewOnce: in.Given().ViewOnce,
	})
}

func (s *service) sendVideo(ctx context.Context, in *sendInput[videoBody]) (*sentAnswer, error) {
	return sendMedia(ctx, s, in, in.Given().To, in.Given().QuoteMessageID, gateway.TypeVideo, messaging.MediaParams{
		Field: "video", Input: in.Given().Video, Caption: in.Given().Caption, ViewOnce: in.Given().ViewOnce,
	})
}

func (s *service) sendVoiceNote(ctx context.Context, in *sendInput[voiceBody]) (*sentAnswer, error) {
	return sendMedia(ctx, s, in, in.Given().To, in.Given().QuoteMessageID, gateway.TypeVoice, messaging.MediaParams{
		Field: "audio", Input: in.Given().Audio, ViewOnce: in.Given().ViewOnce,
	})
}

func (s *service) sendAudioFile(ctx context.Context, in *sendInput[audioBody]) (*sentAnswer, error) {
	return sendMedia(ctx, s, in, in.Given().To, in.Given().QuoteMessageID, gateway.TypeAudio, messaging.MediaParams{
		Field: "audio", Input: in.Given().Audio,
	})
}

func (s *service) sendDocument(ctx context.Context, in *sendInput[documentBody]) (*sentAnswer, error) {
	return sendMedia(ctx, s, in, in.Given().To, in.Given().QuoteMessageID, gateway.TypeDocument, messaging.MediaParams{
		Field: "document", Input: in.Given().Document, Caption: in.Given().Caption, FileName: in.Given().FileName,
	})
}

func (s *service) sendSticker(ctx context.Context, in *sendInput[stickerBody]) (*sentAnswer, error) {
	return sendMedia(ctx, s, in, in.Given().To, "", gateway.TypeSticker, messaging.MediaParams{
		Field: "sticker", Input: in.Given().Sticker,
	})
}

func sendMedia[T any](
	ctx context.Context, s *service, in *sendInput[T], to, quoted string, kind gateway.MessageType, params messaging.MediaParams,
) (*sentAnswer, error) {
	request, err := newRequest(ctx, in, to, quoted)
	if err != nil {
		return nil, err
	}
	if inline := exchangeOf(ctx).body.Media(); inline != nil {
		params.Input, params.Decoded = "", inline
	}
	return newSentAnswer(s.Messages.SendMedia(ctx, request, kind, params))
}
