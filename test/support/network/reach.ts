/** What a command of `reach` prints when nothing answered. */
export const refused = '-'

/** A command that prints what answers at this address and port. */
export function reach(address: string, seconds: number): string {
  return `timeout ${seconds} bash -c 'exec 3<>/dev/tcp/${address.replace(':', '/')} && cat <&3' 2>/dev/null || echo ${refused}`
}
