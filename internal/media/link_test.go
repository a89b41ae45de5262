package media_test

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media"
)

const linkBase = "https://recado.example"

// openLinks makes links to one file, "key" with the content "0123456789".
func openLinks(t *testing.T) (*media.Links, *clock) {
	t.Helper()
	links, _, at := openLinksOf(t)
	return links, at
}

// clock is a time that stands still unless a test moves it.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func openLinksOf(t *testing.T) (*media.Links, *media.Blobs, *clock) {
	t.Helper()
	blobs := openBlobs(t, t.TempDir(), media.BlobsConfig{})
	put(t, blobs, "0199/key", "0123456789", media.BlobMeta{MimeType: "image/jpeg", FileName: "kept.jpg"})
	at := &clock{at: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
	links, err := media.NewLinks(media.LinksConfig{Blobs: blobs, Secret: []byte(strings.Repeat("s", media.MinLinkSecret)), Now: at.now})
	if err != nil {
		t.Fatal(err)
	}
	return links, blobs, at
}

// follow opens the file of a link, without a check.
func follow(t *testing.T, links *media.Links, link string) (*media.Blob, error) {
	t.Helper()
	return followChecked(t, links, link, func(context.Context, string, bool) error { return nil })
}

func followChecked(t *testing.T, links *media.Links, link string, check func(ctx context.Context, key string, fetch bool) error) (*media.Blob, error) {
	t.Helper()
	target, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	file, err := links.Open(t.Context(), target, check)
	if err == nil {
		t.Cleanup(func() { _ = file.Close() })
	}
	return file, err
}

func TestLink(t *testing.T) {
	t.Parallel()
	links, _ := openLinks(t)
	link := links.URL(linkBase, "0199/key", "praça.jpg", time.Hour)
	if !strings.HasPrefix(link, linkBase+"/media/0199/key?expires=1795179600&name=") {
		t.Errorf("the link is %s", link)
	}
	file, err := follow(t, links, link)
	if err != nil {
		t.Fatal(err)
	}
	if content, err := io.ReadAll(file); err != nil || string(content) != "0123456789" {
		t.Errorf("the file is %q, %v", content, err)
	}
	if file.FileName != "praça.jpg" || file.MimeType != "image/jpeg" || file.Size != 10 {
		t.Errorf("the file is described as %+v", file.BlobMeta)
	}
	t.Run("a file that is gone", func(t *testing.T) {
		t.Parallel()
		if _, err := follow(t, links, links.URL("", "0199/gone", "a", time.Hour)); gateway.KindOf(err) != gateway.NotFound {
			t.Errorf("it ends with %v, want NotFound", err)
		}
	})
}

// Whether a file may still be handed out is asked each time a link is followed, and
// only for a genuine link.
func TestLinkIsChecked(t *testing.T) {
	t.Parallel()
	links, blobs, at := openLinksOf(t)
	var asked []string
	check := func(_ context.Context, key string, fetch bool) error {
		if fetch {
			asked = append(asked, key+" to be fetched")
			return nil
		}
		asked = append(asked, key)
		if key == "0199/key" {
			return nil
		}
		return gateway.Errorf(gateway.NotFound, gateway.CodeMessageNotFound, "deleted")
	}
	put(t, blobs, "0199/deleted", "still there", media.BlobMeta{})
	if _, err := followChecked(t, links, links.URL("", "0199/key", "a", time.Hour), check); err != nil {
		t.Errorf("a file that may be handed out: %v", err)
	}
	deleted := links.URL("", "0199/deleted", "a", time.Hour)
	if _, err := followChecked(t, links, deleted, check); gateway.KindOf(err) != gateway.NotFound || !strings.HasPrefix(err.Error(), "MESSAGE_NOT_FOUND") {
		t.Errorf("a file that may not be: %v", err)
	}
	if _, err := followChecked(t, links, deleted+"x", check); gateway.KindOf(err) != gateway.Forbidden {
		t.Errorf("a changed link: %v", err)
	}
	put(t, blobs, "0199/later", "come now", media.BlobMeta{FileName: "own.txt"})
	later, expires := links.LazyURL("", "0199/later", time.Hour)
	file, err := followChecked(t, links, later, check)
	if err != nil || file.FileName != "own.txt" || expires.Sub(at.now()) != time.Hour {
		t.Errorf("a file that is fetched when its link is followed: %+v, %v, until %s", file, err, expires)
	}
	if _, err := followChecked(t, links, strings.Replace(later, "&fetch=true", "", 1), check); gateway.KindOf(err) != gateway.Forbidden {
		t.Errorf("a link that is not to fetch any more: %v", err)
	}
	if want := []string{"0199/key", "0199/deleted", "0199/later to be fetched"}; !slices.Equal(asked, want) {
		t.Errorf("asked for %q, want %q", asked, want)
	}
}

// Changing, leaving out or adding any one character makes a link useless.
func TestLinkTamperedWith(t *testing.T) {
	t.Parallel()
	links, _ := openLinks(t)
	link := links.URL("", "0199/key", "a é+&=%\"A.jpg", time.Hour)
	if _, err := follow(t, links, link); err != nil {
		t.Fatalf("the link itself: %v", err)
	}
	try := func(changed string) {
		request, err := http.NewRequest(http.MethodGet, linkBase, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := request.URL.Parse(changed)
		if err != nil || parsed.Fragment != "" {
			return // no request can be made of it, or it is the same request
		}
		if _, err := links.Open(t.Context(), parsed, func(context.Context, string, bool) error { return nil }); gateway.KindOf(err) != gateway.Forbidden {
			t.Errorf("%s ends with %v, want Forbidden", changed, err)
		}
	}
	for i := len("/"); i < len(link); i++ {
		for _, c := range "aAzZ0159-_.~%+&=?/; " {
			if rune(link[i]) != c {
				try(link[:i] + string(c) + link[i+1:])
			}
			try(link[:i] + string(c) + link[i:])
		}
		try(link[:i] + link[i+1:])
		if swapped := swapCase(link[i]); swapped != link[i] {
			try(link[:i] + string(swapped) + link[i+1:])
		}
	}
	try(link + "&x=y")
	try(strings.Replace(link, "?", "?x=y&", 1))
	try("/media/0199/key")
}

func swapCase(b byte) byte {
	if b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' {
		return b ^ 0x20
	}
	return b
}

func TestLinkExpires(t *testing.T) {
	t.Parallel()
	links, at := openLinks(t)
	link := links.URL("", "0199/key", "a.jpg", time.Hour)
	at.at = at.at.Add(time.Hour)
	if _, err := follow(t, links, link); err != nil {
		t.Errorf("at its last second: %v", err)
	}
	at.at = at.at.Add(time.Second)
	if _, err := follow(t, links, link); gateway.KindOf(err) != gateway.Forbidden || !strings.Contains(err.Error(), "expired") {
		t.Errorf("afterwards: %v", err)
	}
}

func TestLinkOfAnotherSecret(t *testing.T) {
	t.Parallel()
	links, blobs, at := openLinksOf(t)
	others, err := media.NewLinks(media.LinksConfig{Blobs: blobs, Secret: []byte(strings.Repeat("o", media.MinLinkSecret)), Now: at.now})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := follow(t, links, others.URL("", "0199/key", "a", time.Hour)); gateway.KindOf(err) != gateway.Forbidden {
		t.Errorf("it ends with %v, want Forbidden", err)
	}
	if _, err := media.NewLinks(media.LinksConfig{Blobs: blobs, Secret: []byte("short")}); err == nil {
		t.Error("a short secret was taken")
	}
}
