// Waiting with a bound.

const patience = 20_000
const interval = 50

/** Calls attempt until it returns something truthy, and returns that. */
export async function until(what, attempt, limit = patience) {
  const end = Date.now() + limit
  for (;;) {
    const result = await attempt()
    if (result) return result
    if (Date.now() > end) throw new Error(`waited ${limit} ms in vain for ${what}`)
    await pause(interval)
  }
}

/** Waits for some milliseconds: for what must not happen meanwhile. */
export function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** Throws unless condition holds. */
export function expect(condition, complaint) {
  if (!condition) throw new Error(complaint)
}
