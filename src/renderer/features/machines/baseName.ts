/** The system that a sandbox is made of without an image. */
export function baseName(runtime: string): string {
  return runtime === 'bubblewrap' ? 'This computer’s system' : `Default image (${runtime})`
}
