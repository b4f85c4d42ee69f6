/** The system that a sandbox is made of without an image. */
export function getBaseName(runtime: string): string {
  return runtime === 'bubblewrap' ? 'This computer’s system' : `Default image (${runtime})`
}

/** Returns the window's label for a runtime. */
export function getRuntimeLabel(runtime: string): string {
  return runtime === 'bubblewrap' ? 'Linux namespaces' : runtime === 'docker' ? 'Docker' : runtime
}
