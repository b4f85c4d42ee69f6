/** Output of a `reach` command without a response. */
export const refused = '-'

/** Returns a command that prints the response of this address and port. */
export function reach(address: string, seconds: number): string {
  return `timeout ${seconds} bash -c 'exec 3<>/dev/tcp/${address.replace(':', '/')} && cat <&3' 2>/dev/null || echo ${refused}`
}
