// Receives webhooks, and accepts only requests that the gateway has signed.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'

const TOLERANCE = 5 * 60 // seconds; an older request may have been recorded and sent again
const MAX_BODY = 4 << 20

const secret = process.env.WEBHOOK_SECRET
if (!secret) throw new Error('WEBHOOK_SECRET is not set')
const key = keyOf(secret)

const server = createServer((request, response) => {
  receive(request, response).catch(() => response.destroy())
})
server.listen(process.env.PORT ?? 3000, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`)
})

async function receive(request, response) {
  const body = await bodyOf(request)
  if (!signed(request.headers, body)) {
    response.writeHead(401).end()
    return
  }
  const event = JSON.parse(body)
  // Here: drop the event if you have seen its webhook-id before, put it into your
  // queue, and only then answer. Do the slow work later.
  console.log(event.type)
  response.writeHead(204).end()
}

// bodyOf returns the raw body: its bytes are what is signed.
async function bodyOf(request) {
  const chunks = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size > MAX_BODY) throw new Error('too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

// signed reports whether one of the signatures is right. For a day after the secret
// has changed, there are two.
function signed(headers, body) {
  const id = headers['webhook-id']
  const timestamp = headers['webhook-timestamp']
  const signatures = headers['webhook-signature']
  if (!id || !timestamp || !signatures) return false
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= TOLERANCE)) return false
  const mac = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')
  const want = Buffer.from(`v1,${mac}`)
  return signatures.split(' ').some((signature) => {
    const given = Buffer.from(signature)
    return given.length === want.length && timingSafeEqual(given, want) // takes equally long, right or wrong
  })
}

// keyOf decodes whsec_ and base64; any other secret is its own key.
function keyOf(secret) {
  if (secret.startsWith('whsec_')) {
    const encoded = secret.slice('whsec_'.length)
    const key = Buffer.from(encoded, 'base64')
    if (key.length > 0 && key.toString('base64') === encoded) return key
  }
  return Buffer.from(secret)
}
