package media

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media/mediatest"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func TestDataURI(t *testing.T) {
	t.Parallel()
	service := start(t, Config{FFmpeg: NoFFmpeg})
	for _, test := range []struct{ name, input, want string }{
		{"plain", "data:text/plain;base64,T2zDoSE=", "Olá!"},
		{"without padding", "data:text/plain;base64,T2zDoSE", "Olá!"},
		{"with parameters", "data:text/plain;charset=utf-8;name=a.txt;base64,T2zDoSE=", "Olá!"},
		{"without a type", "data:;base64,T2zDoSE=", "Olá!"},
		{"in capitals", "DATA:Text/Plain;BASE64,T2zDoSE=", "Olá!"},
		{"with line breaks", "data:text/plain;base64,T2zD\r\noSE=\n", "Olá!"},
		{"with a malformed type", "data:;;/;base64,T2zDoSE=", "Olá!"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			file := opened(t, service, gateway.TypeDocument, test.input, Hints{Field: "document"})
			if got := contentOf(t, file); got != test.want {
				t.Errorf("the content is %q, want %q", got, test.want)
			}
			if file.Size != int64(len(test.want)) || len(file.SHA256) != 32 {
				t.Errorf("size %d, hash %x", file.Size, file.SHA256)
			}
			if file.MimeType != "text/plain" || file.FileName != "document.txt" {
				t.Errorf("it is %s called %s", file.MimeType, file.FileName)
			}
		})
	}
}

func contentOf(t *testing.T, file *File) string {
	t.Helper()
	reader, err := file.Open()
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	service := start(t, Config{FFmpeg: NoFFmpeg, MaxBytes: 1 << 20})
	text := dataURI("image/png", []byte("this is no picture"))
	for _, test := range []struct {
		name  string
		kind  gateway.MessageType
		input string
		want  string // part of the message
	}{
		{"an empty string", gateway.TypeImage, "", "must be a data URI"},
		{"plain base64", gateway.TypeImage, "aGVsbG8=", "must be a data URI"},
		{"a path", gateway.TypeImage, "/etc/passwd", "must be a data URI"},
		{"a file URL", gateway.TypeImage, "file:///etc/passwd", "must be a data URI"},
		{"another scheme", gateway.TypeImage, "ftp://example.com/a.png", "must be a data URI"},
		{"a URL without a host", gateway.TypeImage, "http:///a.png", "must be a data URI"},
		{"a URL that is none", gateway.TypeImage, "http://exa mple.com/%zz", "must be a data URI"},
		{"a URL with a password", gateway.TypeImage, "http://user:secret@example.com/a.png", "without user and password"},
		{"a data URI without a comma", gateway.TypeImage, "data:image/png;base64", "comma"},
		{"a data URI without base64", gateway.TypeImage, "data:image/png,hello", "base64"},
		{"a data URI without data", gateway.TypeImage, "data:image/png;base64,", "is empty"},
		{"a data URI of padding", gateway.TypeImage, "data:image/png;base64,==", "is empty"},
		{"a data URI of line breaks", gateway.TypeImage, "data:image/png;base64,\n", "is empty"},
		{"bad base64", gateway.TypeImage, "data:image/png;base64,a*b=", "valid base64"},
		{"base64 that breaks off", gateway.TypeImage, "data:image/png;base64,aGVsb", "valid base64"},
		{"base64 with too much padding", gateway.TypeImage, "data:image/png;base64,YQ===", "valid base64"},
		{"text as an image", gateway.TypeImage, text, "must hold an image"},
		{"an image in an unknown format", gateway.TypeImage, dataURI("image/png", []byte("BM\x00\x00\x00\x00")), "must hold an image"},
		{"an image that is only a beginning", gateway.TypeImage, dataURI("image/png", []byte("\x89PNG\r\n\x1a\n\x00\x00")), "can be read"},
		{"text as a video", gateway.TypeVideo, text, "must hold a video"},
		{"sound as a video", gateway.TypeVideo, dataURI("video/mp4", sample(t, "sound.mp4")), "not only sound"},
		{"text as a voice note", gateway.TypeVoice, text, "must hold audio"},
		{"text as audio", gateway.TypeAudio, text, "must hold audio"},
		{"a video as audio", gateway.TypeAudio, dataURI("audio/mp4", sample(t, "clip.mp4")), "must hold audio"},
		{"a video as audio, not believed", gateway.TypeAudio, dataURI("video/webm", sample(t, "clip.webm")), "must hold audio"},
		{"a PNG as a sticker", gateway.TypeSticker, dataURI("image/webp", mediatest.PNG(t, 4, 4)), "WebP"},
		{"a sticker that is only a beginning", gateway.TypeSticker, dataURI("image/webp", []byte("RIFF\x00\x00\x00\x00WEBPVP8X")), "can be read"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := service.Open(t.Context(), test.kind, test.input, Hints{Field: "media"})
			failure := wantCode(t, err, gateway.Invalid, gateway.CodeValidation)
			if len(failure.Fields) != 1 || failure.Fields[0].Field != "media" || !strings.Contains(failure.Fields[0].Message, test.want) {
				t.Errorf("refused with %+v, want a message about %q", failure.Fields, test.want)
			}
			if strings.Contains(failure.Message, "secret") {
				t.Errorf("%q repeats a secret", failure.Message)
			}
		})
	}
	t.Run("a text message", func(t *testing.T) {
		t.Parallel()
		if _, err := service.Open(t.Context(), gateway.TypeText, text, Hints{}); gateway.KindOf(err) != gateway.Internal || err == nil {
			t.Errorf("the error is %v, want an internal one", err)
		}
	})
}

func TestDataURIOverTheLimit(t *testing.T) {
	t.Parallel()
	service := start(t, Config{MaxBytes: 100})
	file := opened(t, service, gateway.TypeDocument, dataURI("", bytes.Repeat([]byte{1}, 100)), Hints{})
	if file.Size != 100 {
		t.Errorf("the size is %d, want 100", file.Size)
	}
	_, err := service.Open(t.Context(), gateway.TypeDocument, dataURI("", bytes.Repeat([]byte{1}, 101)), Hints{})
	wantCode(t, err, gateway.TooLarge, gateway.CodePayloadTooLarge)
}

// What a process that was killed left behind is removed by the next one, but not
// what one that lives is working on.
func TestNewRemovesWhatWasLeft(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for name, age := range cases.Sorted(map[string]time.Duration{
		tempPrefix + "old": 25 * time.Hour,
		tempPrefix + "new": 23 * time.Hour,
		"another":          25 * time.Hour,
	}) {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		at := noon().at.Add(-age)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	service, err := New(Config{TempDir: folder, Now: noon().now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := service.Close(); err != nil {
			t.Error(err)
		}
	})
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 2 || entries[0].Name() != "another" || entries[1].Name() != tempPrefix+"new" {
		t.Errorf("left are %v, want all but the old one of ours", entries)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for name, config := range cases.Sorted(map[string]Config{
		"an ffmpeg that is not there": {FFmpeg: "/nowhere/ffmpeg"},
		"a folder that is a file":     {TempDir: "main_test.go"},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := New(config); err == nil {
				t.Error("it was accepted")
			}
		})
	}
}

func TestTemporaryFilesArePrivate(t *testing.T) {
	t.Parallel()
	service := start(t, Config{})
	file := opened(t, service, gateway.TypeDocument, dataURI("", []byte("private")), Hints{})
	info, err := os.Stat(file.content.path())
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the mode is %v, want 0600", info.Mode())
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Errorf("closing twice: %v", err)
	}
	if _, err := file.Open(); err == nil {
		t.Error("a closed file can be opened")
	}
}

func FuzzDataURI(f *testing.F) {
	f.Add("text/plain;base64,T2zDoSE=")
	f.Add(";base64,")
	f.Add("image/png;base64,a===")
	f.Add("a;base64;base64,AAAA,")
	f.Fuzz(func(t *testing.T, rest string) {
		source, err := dataSource(rest, "media")
		if err != nil {
			if gateway.KindOf(err) != gateway.Invalid {
				t.Fatalf("%v is no answer for a client", err)
			}
			return
		}
		decoded, err := io.ReadAll(source.body)
		if err != nil {
			return
		}
		// What was taken says the same when it is spelled the usual way.
		_, data, _ := strings.Cut(rest, ",")
		data = strings.NewReplacer("\r", "", "\n", "", "=", "").Replace(data)
		if again := base64.RawStdEncoding.EncodeToString(decoded); len(again) != len(data) {
			t.Errorf("%q was taken as %q", data, again)
		}
	})
}

// What the request has in a file already is not copied, unless another program has to find it.
func TestDecodedMediaIsNotCopied(t *testing.T) {
	t.Parallel()
	config := Config{FFmpeg: NoFFmpeg, TempDir: t.TempDir()}
	service, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = service.Close() }()
	unhurried(service.decoders)
	service.decoders.bind = unbound // bound, it would come after all other tests
	for name, c := range cases.Sorted(map[string]struct {
		kind    gateway.MessageType
		content []byte
		hashed  bool
		copied  int
	}{
		"picture":              {gateway.TypeImage, mediatest.JPEG(t, 1000, 500, 6, binary.BigEndian), true, 0},
		"large PNG":            {gateway.TypeImage, mediatest.PNG(t, 2600, 1700), true, 0}, // its decoder is a process of its own
		"document":             {gateway.TypeDocument, []byte("a"), true, 0},
		"document, not hashed": {gateway.TypeDocument, []byte("a"), false, 1},
		"GIF":                  {gateway.TypeImage, mediatest.GIF(t, 200, 100), true, 1},
		"sound":                {gateway.TypeVoice, sample(t, "voice.ogg"), true, 1},
	}) {
		hash := sha256.Sum256(c.content)
		given := &Decoded{Size: int64(len(c.content)), Content: bytes.NewReader(c.content)}
		if c.hashed {
			given.SHA256 = hash[:]
		}
		file, err := service.Open(t.Context(), c.kind, "", Hints{Decoded: given})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if entries, err := os.ReadDir(config.TempDir); err != nil || len(entries) != c.copied {
			t.Errorf("%s: it was copied to %d files, want %d (%v)", name, len(entries), c.copied, err)
		}
		if c.kind == gateway.TypeImage && file.Thumbnail == nil {
			t.Errorf("%s: it has no thumbnail", name)
		}
		for range 2 {
			if name != "GIF" && (contentOf(t, file) != string(c.content) || !bytes.Equal(file.SHA256, hash[:]) || file.Size != given.Size) {
				t.Errorf("%s: it has another content", name)
			}
		}
		if err := errors.Join(file.Close(), file.Close()); err != nil {
			t.Error(err)
		}
		wantEmpty(t, config.TempDir)
	}
	// One that is too large, or empty, is refused as any other.
	small := start(t, Config{FFmpeg: NoFFmpeg, MaxBytes: 3})
	for size, code := range cases.Sorted(map[int64]string{0: gateway.CodeValidation, 4: gateway.CodePayloadTooLarge}) {
		hash := sha256.Sum256(make([]byte, size))
		_, err := small.Open(t.Context(), gateway.TypeDocument, "", Hints{Decoded: &Decoded{Size: size, SHA256: hash[:], Content: bytes.NewReader(make([]byte, size))}})
		if failure, ok := gateway.AsError(err); !ok || failure.Code != code {
			t.Errorf("%d bytes: %v, want %s", size, err, code)
		}
	}
}
