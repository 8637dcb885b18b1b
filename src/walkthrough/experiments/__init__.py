"""Small trainings that a chapter runs on the page."""
