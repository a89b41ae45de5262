// The operation that sends pictures and videos together.

package api

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/messaging"
)

type albumBody struct {
	Addressee

	Items []AlbumItem `json:"items" nullable:"false" maxItems:"30" doc:"The pictures and videos in their order: 2 to 30."`

	Reply
	Schedule
}

// AlbumItem is a picture or a video of an album.
type AlbumItem struct {
	Image   string `json:"image,omitempty" format:"media" doc:"The image: an http(s) URL, or a base64 data URI while the whole body has a megabyte at most." example:"https://shop.example/model.jpg"`
	Video   string `json:"video,omitempty" format:"media" doc:"The video, in place of an image." sample:"-"`
	Caption string `json:"caption,omitempty" maxLength:"1024" doc:"Text below it, at most 1,024 characters." example:"The new model"`

	Mentioning
}

// SentAlbum names the messages of an album that was sent.
type SentAlbum struct {
	ID        string     `json:"id" format:"uuid" doc:"Internal identifier of the album." example:"019aa1f4-8d52-7c1e-b3a0-0f4de1c9a7b2"`
	MessageID string     `json:"messageId" doc:"Its identifier on the platform, which its messages have as albumId." example:"3EB0C431C26A1916E07A"`
	Items     []SentItem `json:"items" nullable:"false" doc:"What became of each picture and video, in their order."`
}

// SentItem names the message of a picture or a video, or says why there is none.
type SentItem struct {
	ID        *string `json:"id" format:"uuid" nullable:"true" doc:"Internal identifier; null if it failed." example:"019aa1f4-8d52-7c1e-b3a0-0f4de1c9a7b3"`
	MessageID *string `json:"messageId" nullable:"true" doc:"Identifier on the platform; null if it failed." example:"3EB0C431C26A1916E07B"`
	Error     *string `json:"error" nullable:"true" doc:"The code of its failure; null if there was none." sample:"null"`
	Message   *string `json:"message" nullable:"true" doc:"The failure for people; null if there was none." sample:"null"`
}

// albumAnswer is the answer of an album.
type albumAnswer struct {
	Status   int
	Applied  string `header:"Preference-Applied" enum:"respond-async" doc:"Set if the messages were left in the queue because the request prefers that."`
	Replayed string `header:"Idempotency-Replayed" enum:"true" doc:"Set if an earlier request with the same Idempotency-Key has begun the album: what it had sent was not sent again."`
	Body     SentAlbum
}

func (s sending) album() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "sendAlbum", Tag: tagMessages, Status: http.StatusCreated,
		Summary: "Send an album",
		Description: "Sends pictures and videos that phones show together. Each is a message of its own, with identifiers and a status; so is the album, their frame. " +
			"All files are fetched first: if one is wrong, nothing is sent. If the platform refuses one later, its result says so, and the others are sent. " +
			"A repeat with the same Idempotency-Key sends what failed for lack of an answer, and nothing twice. " +
			"Returns when the platform has acknowledged every message; or, if the request prefers respond-async or says when to send, as soon as they are kept.",
		Later: "The messages are kept, and will be sent.",
		Codes: append(append(sendCodes(), gateway.CodeQueueFull), gateway.CodeMessageNotFound, gateway.CodeMediaFetchFailed),
	}, func(ctx context.Context, in *sendInput[albumBody]) (*albumAnswer, error) {
		given := in.Given()
		items, err := albumItems(given.Items)
		if err != nil {
			return nil, err
		}
		request, err := newRequest(ctx, in, given.To, given.QuoteMessageID, given.SendAt)
		if err != nil {
			return nil, err
		}
		album, parts, err := s.use.SendAlbum(ctx, request, items)
		if err != nil {
			return nil, err
		}
		var sent []string
		for _, part := range parts {
			if part.Failure == nil {
				sent = append(sent, part.MessageID)
			}
		}
		contract.Accepted(ctx, album.ID, album.MessageID, slog.Any("item_platform_ids", sent))
		out := &albumAnswer{Status: http.StatusCreated, Body: newSentAlbum(album, parts)}
		if album.Queued {
			out.Status = http.StatusAccepted
			if in.later() {
				out.Applied = respondAsync
			}
		}
		if album.Replayed {
			out.Replayed = "true"
		}
		return out, nil
	})
}

// minAlbum is how many pictures and videos make an album.
const minAlbum = 2

// albumItems reads what an album is made of, and names every item that is wrong.
func albumItems(given []AlbumItem) ([]messaging.AlbumItem, error) {
	items := make([]messaging.AlbumItem, len(given))
	var wrong []gateway.FieldError
	if len(given) < minAlbum {
		wrong = append(wrong, gateway.FieldError{Field: "items", Message: "must have at least 2 items"})
	}
	for n, item := range given {
		kind, field, input := gateway.TypeImage, "image", item.Image
		if item.Video != "" {
			kind, field, input = gateway.TypeVideo, "video", item.Video
		}
		if (item.Image == "") == (item.Video == "") {
			wrong = append(wrong, gateway.FieldError{Field: fmt.Sprintf("items[%d]", n), Message: "must have an image or a video"})
		}
		people, err := readPeople(fmt.Sprintf("items[%d].mentions", n), item.Mentions)
		if err != nil {
			return nil, err
		}
		items[n] = messaging.AlbumItem{
			Kind: kind, Mentions: messaging.Mentions{Everyone: item.MentionEveryone, People: people},
			Params: messaging.MediaParams{Field: fmt.Sprintf("items[%d].%s", n, field), Input: input, Caption: item.Caption},
		}
	}
	if len(wrong) > 0 {
		return nil, gateway.InvalidFields(wrong...)
	}
	return items, nil
}

func newSentAlbum(album messaging.Result, parts []messaging.AlbumPart) SentAlbum {
	sent := SentAlbum{ID: album.ID, MessageID: album.MessageID, Items: make([]SentItem, len(parts))}
	for n, part := range parts {
		if part.Failure != nil {
			sent.Items[n] = SentItem{Error: &part.Failure.Code, Message: &part.Failure.Message}
			continue
		}
		sent.Items[n] = SentItem{ID: &part.ID, MessageID: &part.MessageID}
	}
	return sent
}
