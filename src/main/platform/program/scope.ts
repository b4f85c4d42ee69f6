/**
 * Owns the resources that a process opened. `close()` releases them once, newest first, and continues after errors. It
 * rejects with an AggregateError of all errors.
 */
export class Scope {
  readonly #releases: (() => unknown)[] = []
  #closing: Promise<void> | undefined

  own<T>(resource: T, release: (resource: T) => unknown): T {
    this.#releases.push(() => release(resource))
    return resource
  }

  close(): Promise<void> {
    this.#closing ??= this.#releaseAll()
    return this.#closing
  }

  async #releaseAll(): Promise<void> {
    const failures: unknown[] = []
    for (let release = this.#releases.pop(); release; release = this.#releases.pop()) {
      try {
        await release()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, 'Some resources could not be closed.')
  }
}
