package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/contract"
)

const (
	instance = "019aa1f4-5b0c-7e43-9d1f-6a1f2f6f3b11"
	sent     = `{"id":"019aa1f4-8d52-7c1e-b3a0-0f4de1c9a7b2","messageId":"3EB0"}`
	media    = "data:text/plain;base64,YQ=="
)

// exchange is the request that a method has to make, and its answer.
type exchange struct {
	call   func(ctx context.Context, c *client.Client) (any, error)
	want   string // method, path as it is written, body
	status int
	answer string
}

func sends(call func(ctx context.Context, c *client.Client) (client.Sent, error), want string) exchange {
	return exchange{
		call: func(ctx context.Context, c *client.Client) (any, error) { return call(ctx, c) },
		want: "POST /api/message/" + instance + want, status: http.StatusCreated, answer: sent,
	}
}

func does(call func(ctx context.Context, c *client.Client) error, want string) exchange {
	return exchange{
		call: func(ctx context.Context, c *client.Client) (any, error) { return nil, call(ctx, c) },
		want: want, status: http.StatusNoContent,
	}
}

// Every method makes a request that the document allows, and reads an answer that
// it describes.
func TestMethodsMakeDocumentedRequests(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile("../docs/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const to, api, messages = "5511988887766", "/api/instances/" + instance, "/api/message/" + instance
	exchanges := map[string]exchange{
		"SendText": sends(func(ctx context.Context, c *client.Client) (client.Sent, error) {
			return c.SendText(ctx, instance, client.Text{To: to, Message: "a<b"})
		}, `/text {"to":"5511988887766","message":"a\u003cb"}`),
		"SendText, with a preview": sends(func(ctx context.Context, c *client.Client) (client.Sent, error) {
			return c.SendText(ctx, instance, client.Text{To: to, Message: "http://a", LinkPreview: true})
		}, `/text {"to":"5511988887766","message":"http://a","linkPreview":true}`),
		"SendText, mentions": sends(func(ctx context.Context, c *client.Client) (client.Sent, error) {
			return c.SendText(ctx, instance, client.Text{To: to, Message: "m", Mentions: []string{"1"}, MentionEveryone: true})
		}, `/text {"to":"5511988887766","message":"m","mentions":["1"],"mentionEveryone":true}`),
		"SendAlbum": {
			func(ctx context.Context, c *client.Client) (any, error) {
				return c.SendAlbum(ctx, instance, client.Album{To: to, Items: []client.AlbumItem{{Image: media, Caption: "c"}, {Video: media}}})
			},
			"POST " + messages + `/album {"to":"5511988887766","items":[{"image":"` + media + `","caption":"c"},{"video":"` + media + `"}]}`, http.StatusCreated,
			`{"id":"019aa1f4-8d52-7c1e-b3a0-0f4de1c9a7b2","messageId":"3EB0","items":[{"id":"019aa1f4-8d52-7c1e-b3a0-0f4de1c9a7b3","messageId":"3EB1","error":null,"message":null},` +
				`{"id":null,"messageId":null,"error":"PLATFORM_ERROR","message":"refused"}]}`,
		},
		"SendImage": sends(func(ctx context.Context, c *client.Client) (client.Sent, error) {
			return c.SendImage(ctx, instance, client.Image{To: to, Image: media, Caption: "c", QuoteMessageID: "q", ViewOnce: true})
		}, `/image {"to":"5511988887766","image":"`+media+`","caption":"c","quoteMessageId":"q","viewOnce":true}`),
		"SendVideo": sends(func(ctx context.Context, c *client.Client) (client.Sent, error) {
			return c.SendVideo(ctx, instance, client.Video{To: to, Video: media, Caption: "c", QuoteMessageID: "q", ViewOnce: true})
		}, `/video {"to":"5511988887766","video":"`+media+`","caption":"c","quoteMessageId":"q","viewOnce":true}`),
		"SendVideoNote": sends(func(ctx context.Context, c *client.Client) (client.Sent, error) {
			return c.SendVideoNote(ctx, instance, client.VideoNote{To: to, Video: media, QuoteMessageID: "q"})
		}, `/video-note {"to":"5511988887766","video":"`+media+`","quoteMessageId":"q"}`),
		"SendVoiceNote": sends(func(ctx context.Context, c *client.Client) (client.Sent, error) {
			return c.SendVoiceNote(ctx, instance, client.VoiceNote{To: to, Audio: media, QuoteMessageID: "q", ViewOnce: true})
		}, `/audio-note {"to":"5511988887766","audio":"`+media+`","quoteMessageId":"q","viewOnce":true}`),
		"SendAudioFile": sends(func(ctx context.Context, c *client.Client) (client.Sent, error) {
			return c.SendAudioFile(ctx, instance, client.AudioFile{To: to, Audio: media, QuoteMessageID: "q"})
		}, `/audio-file {"to":"5511988887766","audio":"`+media+`","quoteMessageId":"q"}`),
		"SendDocument": sends(func(ctx context.Context, c *client.Client) (client.Sent, error) {
			return c.SendDocument(ctx, instance, client.Document{To: to, Document: media, Caption: "c", FileName: "f", QuoteMessageID: "q"})
		}, `/document {"to":"5511988887766","document":"`+media+`","caption":"c","fileName":"f","quoteMessageId":"q"}`),
		"SendSticker": sends(func(ctx context.Context, c *client.Client) (client.Sent, error) {
			return c.SendSticker(ctx, instance, client.Sticker{To: to, Sticker: media, Convert: true})
		}, `/sticker {"to":"5511988887766","sticker":"`+media+`","convert":true}`),
		"SendLocation": sends(func(ctx context.Context, c *client.Client) (client.Sent, error) {
			return c.SendLocation(ctx, instance, client.Location{To: to, Name: "n", Address: "a"})
		}, `/location {"to":"5511988887766","latitude":0,"longitude":0,"name":"n","address":"a"}`),
		"SendContact": sends(func(ctx context.Context, c *client.Client) (client.Sent, error) {
			return c.SendContact(ctx, instance, client.Contact{To: to, Contact: client.Card{FullName: "f", PhoneNumber: to, Organization: "o"}})
		}, `/contact {"to":"5511988887766","contact":{"fullName":"f","phoneNumber":"5511988887766","organization":"o"}}`),
		"SendPoll": sends(func(ctx context.Context, c *client.Client) (client.Sent, error) {
			return c.SendPoll(ctx, instance, client.Poll{To: to, Question: "q", Options: []string{"a", "b"}, MaxAnswers: new(int64(0))})
		}, `/poll {"to":"5511988887766","question":"q","options":["a","b"],"maxAnswers":0}`),
		"SendEvent": sends(func(ctx context.Context, c *client.Client) (client.Sent, error) {
			return c.SendEvent(ctx, instance, client.CalendarEvent{
				To: to, Name: "n", Start: time.Unix(1_800_000_000, 0).UTC(), Location: client.EventLocation{Name: "p"}, ExtraGuestsAllowed: true,
			})
		}, `/event {"to":"5511988887766","name":"n","start":"2027-01-15T08:00:00Z","location":{"name":"p"},"extraGuestsAllowed":true}`),
		"CancelEvent": {
			func(ctx context.Context, c *client.Client) (any, error) {
				return nil, c.CancelEvent(ctx, instance, "a/b")
			},
			"POST " + messages + "/a%2Fb/cancel ", http.StatusNoContent, ``,
		},
		"PostStatusText": sends(func(ctx context.Context, c *client.Client) (client.Sent, error) {
			return c.PostStatusText(ctx, instance, client.StatusText{Message: "m", Background: "#102030", Font: "bold"})
		}, `/status/text {"message":"m","background":"#102030","font":"bold"}`),
		"PostStatusImage": sends(func(ctx context.Context, c *client.Client) (client.Sent, error) {
			return c.PostStatusImage(ctx, instance, client.StatusImage{Image: media, Caption: "c"})
		}, `/status/image {"image":"`+media+`","caption":"c"}`),
		"PostStatusVideo": sends(func(ctx context.Context, c *client.Client) (client.Sent, error) {
			return c.PostStatusVideo(ctx, instance, client.StatusVideo{Video: media, Caption: "c"})
		}, `/status/video {"video":"`+media+`","caption":"c"}`),
		"PostStatusVoice": sends(func(ctx context.Context, c *client.Client) (client.Sent, error) {
			return c.PostStatusVoice(ctx, instance, client.StatusVoice{Audio: media})
		}, `/status/audio-note {"audio":"`+media+`"}`),
		"ListStatusAudience": {
			func(ctx context.Context, c *client.Client) (any, error) {
				return c.ListStatusAudience(ctx, instance, 2, 1)
			},
			"GET /api/instances/" + instance + "/status/audience?limit=1&page=2 ", http.StatusOK,
			`{"rule":"contacts","data":[{"id":"5511988887766@s.whatsapp.net","lid":"1@lid","name":null}],"isFirstPage":false,"isLastPage":true,"currentPage":2,"previousPage":1,"nextPage":null,"pageCount":2,"totalCount":2}`,
		},
		"Votes": {
			func(ctx context.Context, c *client.Client) (any, error) { return c.GetVotes(ctx, instance, "a/b") },
			"GET " + messages + "/a%2Fb/votes ", http.StatusOK,
			`{"id":"i","messageId":"m","question":"q","maxAnswers":1,"voters":1,"options":[{"option":"a","votes":1,"voters":[{"jid":null,"lid":"1@lid","name":"n"}]}]}`,
		},
		"Forward": sends(func(ctx context.Context, c *client.Client) (client.Sent, error) {
			return c.ForwardMessage(ctx, instance, client.Forward{To: to, MessageID: "3EB0"})
		}, `/forward {"to":"5511988887766","messageId":"3EB0"}`),
		"Edit": {
			func(ctx context.Context, c *client.Client) (any, error) {
				return c.EditMessage(ctx, instance, client.EditMessage{MessageID: "3EB0", Message: "b"})
			},
			"POST " + messages + `/edit {"message":"b","messageId":"3EB0"}`, http.StatusOK, sent,
		},
		"MarkRead": {
			func(ctx context.Context, c *client.Client) (any, error) {
				return c.MarkRead(ctx, instance, client.MarkRead{MessageID: "3EB0"})
			},
			"POST " + messages + `/read {"messageId":"3EB0"}`, http.StatusOK, `{"messageId":"3EB0"}`,
		},
		"Delete": does(func(ctx context.Context, c *client.Client) error {
			return c.DeleteMessage(ctx, instance, client.DeleteMessage{MessageID: "3EB0"})
		},
			"DELETE "+messages+`/delete {"messageId":"3EB0"}`),
		"React": does(func(ctx context.Context, c *client.Client) error {
			return c.SendReaction(ctx, instance, client.Reaction{MessageID: "3EB0", Reaction: ""})
		},
			"POST "+messages+`/reaction {"messageId":"3EB0","reaction":""}`),
		"Pin": does(func(ctx context.Context, c *client.Client) error {
			return c.PinMessage(ctx, instance, "a/b", client.Pin{DurationSeconds: int64(24 * time.Hour / time.Second)})
		},
			"POST "+messages+`/a%2Fb/pin {"durationSeconds":86400}`),
		"Star":        does(func(ctx context.Context, c *client.Client) error { return c.StarMessage(ctx, instance, "a/b") }, "POST "+messages+`/a%2Fb/star `),
		"Unstar":      does(func(ctx context.Context, c *client.Client) error { return c.UnstarMessage(ctx, instance, "a/b") }, "DELETE "+messages+`/a%2Fb/star `),
		"DeleteForMe": does(func(ctx context.Context, c *client.Client) error { return c.DeleteMessageForMe(ctx, instance, "a/b") }, "DELETE "+messages+`/a%2Fb/for-me `),
		"Unpin":       does(func(ctx context.Context, c *client.Client) error { return c.UnpinMessage(ctx, instance, "a/b") }, "DELETE "+messages+`/a%2Fb/pin `),
		"MediaDownloadLink": {func(ctx context.Context, c *client.Client) (any, error) {
			return c.GetMediaDownloadLink(ctx, instance, "77@lid_a/b c")
		}, "GET " + messages + "/media-download-link/77@lid_a%2Fb%20c ", http.StatusOK, `{"url":"http://a/b","urlExpiresIn":60,"fileName":"f"}`},
		"Instance": {
			func(ctx context.Context, c *client.Client) (any, error) { return c.GetInstance(ctx, instance) },
			"GET " + api + " ", http.StatusOK, `{"instanceId":"` + instance + `","name":"n","status":"created","messengerJid":"","messengerLid":"","messengerId":"","messengerName":"","messengerProfilePicUrl":"","createdAt":"2026-11-20T14:22:10.123Z","updatedAt":"2026-11-20T14:22:10.123Z"}`,
		},
		"CheckNumbers": {
			func(ctx context.Context, c *client.Client) (any, error) {
				return c.CheckNumbers(ctx, instance, client.CheckNumbers{Numbers: []string{}})
			},
			"POST " + api + `/check-numbers {"numbers":[]}`, http.StatusOK, `{"results":[]}`,
		},
		"SendPresence": does(func(ctx context.Context, c *client.Client) error {
			return c.SendPresence(ctx, instance, client.Presence{To: to, Presence: client.PresenceComposing})
		}, "POST "+api+`/presence {"presence":"composing","to":"5511988887766"}`),
		"ProfilePicture": {
			func(ctx context.Context, c *client.Client) (any, error) {
				return c.GetProfilePicture(ctx, instance, "+1 415/x")
			},
			"GET " + api + "/contacts/+1%20415%2Fx/profile-picture ", http.StatusOK, `{"url":null}`,
		},
		"Block": does(func(ctx context.Context, c *client.Client) error { return c.BlockContact(ctx, instance, to) },
			"POST "+api+"/contacts/5511988887766/block "),
		"Unblock": does(func(ctx context.Context, c *client.Client) error { return c.UnblockContact(ctx, instance, to) },
			"DELETE "+api+"/contacts/5511988887766/block "),
		"Group": {
			func(ctx context.Context, c *client.Client) (any, error) { return c.GetGroup(ctx, instance, "1@g.us") },
			"GET " + api + "/groups/1@g.us ", http.StatusOK, `{"id":"1@g.us","subject":"s","description":null,"owner":null,"creation":1,"participants":[{"id":"1@lid","admin":"admin"}]}`,
		},
	}
	for name, exchange := range cases.Sorted(exchanges) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, object, _ := strings.Cut(exchange.want, "{")
			wanted := exchange.want
			if object != "" {
				wanted = before + sorted(t, "{"+object)
			}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				if got := r.Method + " " + r.RequestURI + " " + sorted(t, string(body)); got != wanted || r.Header.Get("X-Api-Key") != "key" {
					t.Errorf("asked\n%s with key %q\nwant\n%s", got, r.Header.Get("X-Api-Key"), wanted)
				}
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(exchange.status)
				_, _ = io.WriteString(w, exchange.answer) // the client has its own eyes
			}))
			defer server.Close()
			c := client.New(server.URL+"/", "key").
				WithHTTPClient(&http.Client{Transport: contract.Transport(t, document, server.Client().Transport)})
			result, err := exchange.call(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			if sent, ok := result.(client.Sent); ok && (sent.MessageID != "3EB0" || sent.IdempotencyReplayed) {
				t.Errorf("sent %+v", sent)
			}
		})
	}
}

// sorted returns a body with the names of its fields in order.
func sorted(t *testing.T, body string) string {
	t.Helper()
	if body == "" {
		return ""
	}
	var object any
	if err := json.Unmarshal([]byte(body), &object); err != nil {
		t.Error(err)
	}
	again, err := json.Marshal(object)
	if err != nil {
		t.Error(err)
	}
	return string(again)
}

func TestIdempotencyKeyAndRefusal(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Idempotency-Key") == "once" {
			w.Header().Set("Idempotency-Replayed", "true")
			_, _ = io.WriteString(w, sent) // as above
			return
		}
		w.Header().Set("Retry-After", "2")
		w.WriteHeader(http.StatusConflict)
		_, _ = io.WriteString(w, `{"statusCode":409,"message":"m","error":"INSTANCE_NOT_CONNECTED","timestamp":"2026-11-20T14:22:10.123Z","path":"/p","details":[{"field":"f","message":"m"}]}`)
	}))
	defer server.Close()
	c := client.New(server.URL, "key")
	got, err := c.SendLocation(t.Context(), instance, client.Location{To: "1", IdempotencyKey: "once"})
	if err != nil || !got.IdempotencyReplayed {
		t.Errorf("sent %+v (%v)", got, err)
	}
	_, err = c.SendLocation(t.Context(), instance, client.Location{To: "1"})
	refusal, ok := errors.AsType[*client.Error](err)
	if !ok || !client.IsCode(err, "INSTANCE_NOT_CONNECTED") || refusal.StatusCode != http.StatusConflict || refusal.RetryAfter != 2*time.Second || len(refusal.Details) != 1 {
		t.Errorf("refused with %v", err)
	}
}

// A redirect takes neither the key nor a message elsewhere. It is a refusal, for calls and for streams.
func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") }))
	t.Cleanup(elsewhere.Close)
	gateway := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	t.Cleanup(gateway.Close)
	c := client.New(gateway.URL, "key")
	_, sent := c.SendText(t.Context(), "id", client.Text{To: "5511988887766", Message: "Oi!"})
	_, streamed := c.Events(t.Context(), "id", client.EventsParams{})
	for what, err := range cases.Sorted(map[string]error{"a send": sent, "a stream": streamed}) {
		if refusal, ok := errors.AsType[*client.Error](err); !ok || refusal.StatusCode != http.StatusTemporaryRedirect {
			t.Errorf("%s ended with %v, want a refusal with 307", what, err)
		}
	}
}

func TestDataURI(t *testing.T) {
	t.Parallel()
	for content, want := range cases.Sorted(map[string]string{
		"":     "data:text/plain;base64,",
		"a":    "data:text/plain;base64,YQ==",
		"abc?": "data:text/plain;base64,YWJjPw==",
	}) {
		if got := client.DataURI("text/plain", []byte(content)); got != want {
			t.Errorf("%q: %s", content, got)
		}
		if got, err := client.ReadDataURI("text/plain", strings.NewReader(content)); got != want || err != nil {
			t.Errorf("%q: %s (%v)", content, got, err)
		}
	}
	broken := errors.New("broken")
	if _, err := client.ReadDataURI("text/plain", iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}
