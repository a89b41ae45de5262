package client

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"strings"
	"time"
)

// The media of the types below is a base64 data URI, which DataURI makes, or an
// http(s) URL that the gateway can reach; or a File, which is not held in memory.

// File is a file to send. It is read once, to its end.
type File struct {
	Content io.Reader
	Name    string // the name of a document, if FileName gives none
}

// Image is an image to send: JPEG, PNG, WebP or GIF. An animated GIF is sent as a video that plays
// without end, if ffmpeg is on the gateway's machine.
type Image struct {
	To              string    `json:"to"`
	Image           string    `json:"image,omitempty"`
	File            *File     `json:"-"` // sent in place of Image
	Caption         string    `json:"caption,omitempty"`
	QuoteMessageID  string    `json:"quoteMessageId,omitempty"`
	ViewOnce        bool      `json:"viewOnce,omitempty"`
	Mentions        []string  `json:"mentions,omitempty"`        // as in Text, in the caption
	MentionEveryone bool      `json:"mentionEveryone,omitempty"` // as in Text
	SendAt          time.Time `json:"sendAt,omitzero"`           // as in Text
	Later           bool      `json:"-"`                         // as in Text
	IdempotencyKey  string    `json:"-"`                         // as in Text
}

// Video is a video to send.
type Video struct {
	To              string    `json:"to"`
	Video           string    `json:"video,omitempty"`
	File            *File     `json:"-"` // sent in place of Video
	Caption         string    `json:"caption,omitempty"`
	QuoteMessageID  string    `json:"quoteMessageId,omitempty"`
	ViewOnce        bool      `json:"viewOnce,omitempty"`
	Mentions        []string  `json:"mentions,omitempty"`        // as in Text, in the caption
	MentionEveryone bool      `json:"mentionEveryone,omitempty"` // as in Text
	SendAt          time.Time `json:"sendAt,omitzero"`           // as in Text
	Later           bool      `json:"-"`                         // as in Text
	IdempotencyKey  string    `json:"-"`                         // as in Text
}

// VideoNote is a video that phones show round, like one that was recorded in the chat.
type VideoNote struct {
	To             string    `json:"to"`
	Video          string    `json:"video,omitempty"`
	File           *File     `json:"-"` // sent in place of Video
	QuoteMessageID string    `json:"quoteMessageId,omitempty"`
	SendAt         time.Time `json:"sendAt,omitzero"` // as in Text
	Later          bool      `json:"-"`               // as in Text
	IdempotencyKey string    `json:"-"`               // as in Text
}

// VoiceNote is a voice message to send, ideally OGG with Opus.
type VoiceNote struct {
	To             string    `json:"to"`
	Audio          string    `json:"audio,omitempty"`
	File           *File     `json:"-"` // sent in place of Audio
	QuoteMessageID string    `json:"quoteMessageId,omitempty"`
	ViewOnce       bool      `json:"viewOnce,omitempty"`
	SendAt         time.Time `json:"sendAt,omitzero"` // as in Text
	Later          bool      `json:"-"`               // as in Text
	IdempotencyKey string    `json:"-"`               // as in Text
}

// AudioFile is a playable attachment to send.
type AudioFile struct {
	To             string    `json:"to"`
	Audio          string    `json:"audio,omitempty"`
	File           *File     `json:"-"` // sent in place of Audio
	QuoteMessageID string    `json:"quoteMessageId,omitempty"`
	SendAt         time.Time `json:"sendAt,omitzero"` // as in Text
	Later          bool      `json:"-"`               // as in Text
	IdempotencyKey string    `json:"-"`               // as in Text
}

// Document is a file of any kind to send.
type Document struct {
	To              string    `json:"to"`
	Document        string    `json:"document,omitempty"`
	File            *File     `json:"-"` // sent in place of Document
	Caption         string    `json:"caption,omitempty"`
	FileName        string    `json:"fileName,omitempty"`
	QuoteMessageID  string    `json:"quoteMessageId,omitempty"`
	Mentions        []string  `json:"mentions,omitempty"`        // as in Text, in the caption
	MentionEveryone bool      `json:"mentionEveryone,omitempty"` // as in Text
	SendAt          time.Time `json:"sendAt,omitzero"`           // as in Text
	Later           bool      `json:"-"`                         // as in Text
	IdempotencyKey  string    `json:"-"`                         // as in Text
}

// Sticker is a WebP picture to send as a sticker.
type Sticker struct {
	To             string    `json:"to"`
	Sticker        string    `json:"sticker,omitempty"`
	File           *File     `json:"-"`                 // sent in place of Sticker
	Convert        bool      `json:"convert,omitempty"` // make a sticker of a PNG, JPEG, GIF, MP4 or WebM
	SendAt         time.Time `json:"sendAt,omitzero"`   // as in Text
	Later          bool      `json:"-"`                 // as in Text
	IdempotencyKey string    `json:"-"`                 // as in Text
}

// Album is several pictures and videos that phones show together.
type Album struct {
	To             string      `json:"to"`
	Items          []AlbumItem `json:"items"` // 2 to 30
	QuoteMessageID string      `json:"quoteMessageId,omitempty"`
	SendAt         time.Time   `json:"sendAt,omitzero"` // as in Text
	Later          bool        `json:"-"`               // as in Text
	IdempotencyKey string      `json:"-"`               // as in Text; it counts for every message of the album
}

// AlbumItem is a picture or a video of an album: a URL, or a data URI while all of them together
// have less than a megabyte.
type AlbumItem struct {
	Image   string `json:"image,omitempty"`
	Video   string `json:"video,omitempty"` // in place of Image
	Caption string `json:"caption,omitempty"`
	// Mentions and MentionEveryone are of the caption, as in Text.
	Mentions        []string `json:"mentions,omitempty"`
	MentionEveryone bool     `json:"mentionEveryone,omitempty"`
}

// SentAlbum names an album, whose MessageID its messages have as AlbumID.
type SentAlbum struct {
	Sent
	Items []SentItem `json:"items"` // in the order of the album's
}

// SentItem names the message of a picture or a video; if it failed, Error and Message say why.
type SentItem struct {
	ID        *string `json:"id"`
	MessageID *string `json:"messageId"`
	Error     *string `json:"error"`
	Message   *string `json:"message"`
}

// SendAlbum sends an album. If an item failed after the album had begun, there is no error: its
// SentItem says so.
func (c *Client) SendAlbum(ctx context.Context, instanceID string, album Album) (SentAlbum, error) {
	var out SentAlbum
	answer, err := c.answerOfSend(ctx, instanceID, "/album", album.IdempotencyKey, album.Later, album, nil, &out)
	if err != nil {
		return SentAlbum{}, err
	}
	answer.mark(&out.Sent)
	return out, nil
}

// SendImage sends an image.
func (c *Client) SendImage(ctx context.Context, instanceID string, image Image) (Sent, error) {
	return c.sendFile(ctx, instanceID, "/image", image.IdempotencyKey, image.Later, image, image.File)
}

// SendVideo sends a video.
func (c *Client) SendVideo(ctx context.Context, instanceID string, video Video) (Sent, error) {
	return c.sendFile(ctx, instanceID, "/video", video.IdempotencyKey, video.Later, video, video.File)
}

// SendVideoNote sends a video note.
func (c *Client) SendVideoNote(ctx context.Context, instanceID string, note VideoNote) (Sent, error) {
	return c.sendFile(ctx, instanceID, "/video-note", note.IdempotencyKey, note.Later, note, note.File)
}

// SendVoiceNote sends audio as a recorded voice message.
func (c *Client) SendVoiceNote(ctx context.Context, instanceID string, note VoiceNote) (Sent, error) {
	return c.sendFile(ctx, instanceID, "/audio-note", note.IdempotencyKey, note.Later, note, note.File)
}

// SendAudioFile sends audio as a playable attachment.
func (c *Client) SendAudioFile(ctx context.Context, instanceID string, audio AudioFile) (Sent, error) {
	return c.sendFile(ctx, instanceID, "/audio-file", audio.IdempotencyKey, audio.Later, audio, audio.File)
}

// SendDocument sends a file of any kind.
func (c *Client) SendDocument(ctx context.Context, instanceID string, document Document) (Sent, error) {
	return c.sendFile(ctx, instanceID, "/document", document.IdempotencyKey, document.Later, document, document.File)
}

// SendSticker sends a sticker.
func (c *Client) SendSticker(ctx context.Context, instanceID string, sticker Sticker) (Sent, error) {
	return c.sendFile(ctx, instanceID, "/sticker", sticker.IdempotencyKey, sticker.Later, sticker, sticker.File)
}

// DataURI makes a media input of the content of a file. The gateway detects the type
// itself, so "application/octet-stream" will do for an unknown one.
func DataURI(mimeType string, content []byte) string {
	const head, marker = "data:", ";base64,"
	var uri strings.Builder
	uri.Grow(len(head) + len(mimeType) + len(marker) + base64.StdEncoding.EncodedLen(len(content)))
	uri.WriteString(head + mimeType + marker)
	encoder := base64.NewEncoder(base64.StdEncoding, &uri)
	_, _ = encoder.Write(content) // writing to a Builder never fails
	_ = encoder.Close()
	return uri.String()
}

// ReadDataURI makes a media input of everything that it reads from content.
func ReadDataURI(mimeType string, content io.Reader) (string, error) {
	all, err := io.ReadAll(content)
	if err != nil {
		return "", fmt.Errorf("read media: %w", err)
	}
	return DataURI(mimeType, all), nil
}

// newForm makes the body of a request with a file, and its type. The file is read while the
// body is. The fields are those of a JSON object.
func newForm(object []byte, file File) (body io.Reader, contentType string, err error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(object, &fields); err != nil {
		return nil, "", fmt.Errorf("encode the request: %w", err)
	}
	var head bytes.Buffer
	form := multipart.NewWriter(&head) // writing to a buffer never fails
	for name, value := range fields {
		for _, text := range formTexts(value) {
			_ = form.WriteField(name, text)
		}
	}
	if file.Name == "" {
		_, _ = form.CreateFormField("file")
	} else {
		_, _ = form.CreateFormFile("file", file.Name)
	}
	begun := bytes.Clone(head.Bytes())
	head.Reset()
	_ = form.Close()
	return io.MultiReader(bytes.NewReader(begun), file.Content, &head), form.FormDataContentType(), nil
}

// formTexts are the texts of a field: several of a list, none of null.
func formTexts(value json.RawMessage) []string {
	var text string
	var list []json.RawMessage
	switch {
	case string(value) == "null":
		return nil
	case json.Unmarshal(value, &text) == nil:
		return []string{text}
	case json.Unmarshal(value, &list) == nil:
		var texts []string
		for _, item := range list {
			texts = append(texts, formTexts(item)...)
		}
		return texts
	default:
		return []string{string(value)}
	}
}
