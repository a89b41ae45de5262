package sandbox_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"net/http"
	"strings"
	"testing"

	"github.com/skip2/go-qrcode"
	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func TestQRCodeLinksTheClient(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.allKeys = true
	c := w.newClient().link(gateway)
	if count, err := c.internals().GetServerPreKeyCount(t.Context()); err != nil || count < 800 {
		t.Errorf("the platform holds %d keys, %v", count, err)
	}
	if id := c.Store.ID; id.User != gateway || id.Device != 1 {
		t.Errorf("linked as %s", id)
	}
	var phone account.Phone
	w.do(http.MethodGet, "/phones/"+gateway, nil, &phone)
	if len(phone.Devices) != 1 || phone.Devices[0] != 1 || phone.LID != c.Store.LID.ToNonAD().String() || !phone.Registered {
		t.Errorf("the phone is %+v", phone)
	}
	var phones struct{ Data []account.Phone }
	w.do(http.MethodGet, "/phones", nil, &phones)
	if len(phones.Data) != 1 || phones.Data[0].Number != gateway {
		t.Errorf("the phones are %+v", phones.Data)
	}
	if unknown := w.server.Sessions.UnknownRequests(); len(unknown) != 0 {
		t.Errorf("the client sent requests that are not answered: %v", unknown)
	}
}

func TestPictureOfTheQRCodeLinksTheClient(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, size := range cases.Sorted(map[string]int{"exact": 256, "large": 700}) {
		c := w.newClient()
		c.connect()
		codes := expect[*events.QR](c, nil)
		code, err := qrcode.New(codes.Codes[0], qrcode.Medium)
		if err != nil {
			t.Fatal(err)
		}
		picture := code.Image(size)
		if name == "large" { // a code somewhere on a page
			page := image.NewRGBA(image.Rect(0, 0, 2*size, 2*size))
			draw.Draw(page, page.Bounds(), image.NewUniform(color.Gray{200}), image.Point{}, draw.Src)
			draw.Draw(page, picture.Bounds().Add(image.Pt(size/3, size/2)), picture, image.Point{}, draw.Src)
			picture = page
		}
		var file bytes.Buffer
		if err := png.Encode(&file, picture); err != nil {
			t.Fatal(err)
		}
		uri := "data:image/png;base64," + base64.StdEncoding.EncodeToString(file.Bytes())
		w.do(http.MethodPost, "/phones/"+gateway+"/scan", map[string]string{"qrCode": uri}, nil)
		expect[*events.Connected](c, nil)
	}
}

func TestUnknownCodeIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient()
	c.connect()
	codes := expect[*events.QR](c, nil)
	forged := w.newClient()
	forged.connect()
	theirs := expect[*events.QR](forged, nil)
	parts, others := strings.Split(codes.Codes[0], ","), strings.Split(theirs.Codes[0], ",")
	for name, code := range cases.Sorted(map[string]string{
		"no code":         "hello",
		"no PNG":          "data:image/png;base64,AAAA",
		"unknown":         "https://wa.me/settings/linked_devices#2@unknown," + strings.Join(parts[1:], ","),
		"keys of another": strings.Join(append([]string{parts[0]}, others[1:]...), ","),
	}) {
		var answer struct {
			Error, Message, Path, Timestamp string
			StatusCode                      int
			Details                         []struct{ Field string }
		}
		status := w.call(http.MethodPost, "/phones/"+gateway+"/scan", map[string]string{"qrCode": code}, &answer)
		if status != http.StatusBadRequest || answer.Error != "VALIDATION_ERROR" || answer.Message == "" ||
			answer.StatusCode != status || answer.Path != "/sandbox/api/phones/"+gateway+"/scan" ||
			len(answer.Details) != 1 || answer.Details[0].Field != "qrCode" {
			t.Errorf("%s: %d %+v", name, status, answer)
		}
	}
	w.do(http.MethodPost, "/phones/"+gateway+"/scan", map[string]string{"qrCode": codes.Codes[0]}, nil)
	expect[*events.Connected](c, nil)
	if status := w.call(http.MethodPost, "/phones/"+gateway+"/scan", map[string]string{"qrCode": codes.Codes[0]}, nil); status/100 != 4 {
		t.Errorf("the same code twice: %d", status)
	}
	if status := w.call(http.MethodPost, "/phones/4915100000000/scan", map[string]string{"qrCode": theirs.Codes[0]}, nil); status != http.StatusConflict {
		t.Errorf("scanned with a number that is not registered: %d", status)
	}
}

func TestTypedCodeLinksTheClient(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient()
	c.connect()
	expect[*events.QR](c, nil)
	code, err := c.PairPhone(context.Background(), gateway, true, whatsmeow.PairClientChrome, "Chrome (Linux)")
	if err != nil {
		t.Fatal(err)
	}
	wrong := "AAAA-AAAA"
	for typed, want := range cases.Sorted(map[string]int{wrong: http.StatusBadRequest, "!": http.StatusBadRequest}) {
		if status := w.call(http.MethodPost, "/phones/"+gateway+"/pairing-code", map[string]string{"code": typed}, nil); status != want {
			t.Errorf("%s: %d", typed, status)
		}
	}
	if status := w.call(http.MethodPost, "/phones/"+friend+"/pairing-code", map[string]string{"code": code}, nil); status != http.StatusBadRequest {
		t.Errorf("on another phone: %d", status)
	}
	w.do(http.MethodPost, "/phones/"+gateway+"/pairing-code", map[string]string{"code": code}, nil)
	expect[*events.Connected](c, nil)
	id := c.text(friend, "linked by code")
	c.receipt(id, "read")
}

func TestNewDeviceIsAnnouncedToHoldersOfTheOldList(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one, two := w.newClient().link(gateway), w.newClient().link(partner)
	one.text(partner, "to one device")
	two.got("to one device")
	three := w.newClient().link(partner)
	four := w.newClient().link(gateway)
	one.text(partner, "to two devices")
	two.got("to two devices")
	three.got("to two devices")
	four.got("to two devices")
}
