import { useEffect, useRef, useState } from 'react'

/** Time that runs as fast as one likes, from anywhere, to the end. */
export function usePlayback(durationMs: number, onTime: (atMs: number) => void) {
  const [atMs, setAtMs] = useState(0)
  const [playing, setPlaying] = useState(false)
  const [speed, setSpeed] = useState(1)
  const at = useRef(0)
  const listener = useRef(onTime)
  useEffect(() => {
    listener.current = onTime
  })
  const move = (to: number) => {
    at.current = Math.min(Math.max(0, to), durationMs)
    setAtMs(at.current)
    listener.current(at.current)
  }
  useEffect(() => {
    if (!playing) return
    let before = performance.now()
    let frame = requestAnimationFrame(function next(now) {
      const to = Math.min(at.current + (now - before) * speed, durationMs)
      before = now
      at.current = to
      setAtMs(to)
      listener.current(to)
      if (to >= durationMs) setPlaying(false)
      else frame = requestAnimationFrame(next)
    })
    return () => cancelAnimationFrame(frame)
  }, [playing, speed, durationMs])
  const toggle = () => {
    if (!playing && at.current >= durationMs) move(0)
    setPlaying(!playing)
  }
  return { atMs, playing, speed, setSpeed, toggle, move }
}
