package profile

import "testing"

func FuzzContactJID(f *testing.F) {
	f.Add([]byte("+4915100000014@c.us"))
	f.Add([]byte("+4915100000014"))
	f.Fuzz(func(t *testing.T, query []byte) {
		if jid := contactJID(query); jid.Device != 0 || jid.Server != "s.whatsapp.net" {
			t.Errorf("%q became %v", query, jid)
		}
	})
}
