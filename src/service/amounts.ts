import prettyBytes from 'pretty-bytes';

/** "60 MB". */
export function bytesText(bytes: number): string {
  return prettyBytes(bytes);
}

/** "0.4 s", "15 s", "2 min 5 s", "1 h 20 min". */
export function durationText(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return whole % 60 === 0 ? `${minutes} min` : `${minutes} min ${whole % 60} s`;
  const left = Math.round(whole / 60) % 60;
  const hours = Math.floor(Math.round(whole / 60) / 60);
  return left === 0 ? `${hours} h` : `${hours} h ${left} min`;
}

/** A short running time, rounded up to seconds: "0:08", "1:20", "2:05:00". */
export function clockText(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  const two = (part: number): string => String(part).padStart(2, '0');
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  const rest = `${hours > 0 ? two(minutes) : minutes}:${two(seconds % 60)}`;
  return hours > 0 ? `${hours}:${rest}` : rest;
}

/** "1 file", "1,200 files". */
export function countText(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}
