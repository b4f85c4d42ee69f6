/** Secret that is needed on several pages of a secure prompt. */
export type SecretBuffer = {
  hold(text: string): void
  /** @throws Error if no secret is held */
  read(): string
  /** Overwrites the secret with zeros. */
  forget(): void
}

export function createSecretBuffer(): SecretBuffer {
  let bytes: Buffer | undefined
  const forget = (): void => {
    bytes?.fill(0)
    bytes = undefined
  }
  return {
    hold(text) {
      forget()
      bytes = Buffer.from(text)
    },
    read() {
      if (!bytes) throw new Error('The secret was erased.')
      return bytes.toString()
    },
    forget,
  }
}
