/** What is given to it runs one after the other, in order, whether the one before worked or failed. */
export function turns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const next = last.then(work)
    last = next.catch(() => {})
    return next
  }
}
